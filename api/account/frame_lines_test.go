package account

import (
	"fmt"
	"testing"

	"tillwatch/api"
)

// A whole picture may be large. Its copy for a frame never holds more than one line of it.
func TestAWholePictureIsCopiedLineByLine(t *testing.T) {
	s := NewStore(StoreConfig{})
	for i := range 300 {
		source := api.EventSource{ID: api.ID(fmt.Sprint("ci_", i)), Type: api.SourceIntent}
		s.ApplyEvents([]Delivery{{Seq: int64(i + 1), Received: noon, Event: api.Event{
			ID: api.ID(fmt.Sprint("evt_", i)), Type: api.OfferRetrieved, CreatedAt: noon, Source: source}}}, noon)
	}
	var lines []*Frame
	copied, intents, events := 0, 0, 0
	frames := FrameWriter{
		Detail: func(id api.ID) (*IntentDetail, bool) {
			copied++
			return s.Intent(id)
		},
		Put: func(f *Frame) error {
			if intents += len(f.Intents); copied > intents {
				t.Errorf("line %d: %d intents are copied, %d written", len(lines), copied, intents)
			}
			events += len(f.Events)
			lines = append(lines, f)
			return nil
		},
	}
	c := s.Changes(0)
	if err := frames.Write(&c); err != nil {
		t.Fatal(err)
	}
	if intents != 300 || events != 300 {
		t.Errorf("%d intents and %d events are written", intents, events)
	}
	for i, f := range lines {
		first, last := i == 0, i == len(lines)-1
		if f.Whole != first || f.More == last || (f.Summary != nil) != last || f.items() > mostItems {
			t.Errorf("line %d of %d: whole %t, more %t, a summary %t, %d items",
				i, len(lines), f.Whole, f.More, f.Summary != nil, f.items())
		}
	}
}
