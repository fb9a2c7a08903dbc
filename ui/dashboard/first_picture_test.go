package dashboard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tillwatch/api"
	"tillwatch/api/account"
)

func TestTheFirstFrameWaitsForThePictureButNotForLong(t *testing.T) {
	cases := []struct {
		name  string
		ends  tea.Msg
		shown bool
	}{
		{"a key", tea.KeyPressMsg{Code: tea.KeyTab}, false},
		{"the picture", changesMsg{account.Changes{Version: 1, At: time.Now(), Whole: true}}, true},
		{"the end of patience", pictureLateMsg{}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := New(Config{Source: typicalShop(time.Now()), NoColor: true})
			m.awaited = true
			m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
			if got := drawing(m); strings.TrimSpace(got) != "" {
				t.Fatalf("before the picture it draws %q", got)
			}
			m.Update(c.ends)
			if got := drawing(m); (strings.TrimSpace(got) != "") != c.shown {
				t.Errorf("after %s it draws %q", c.name, got)
			}
		})
	}
}

// The first frame of a start is drawn from a small part of the saved picture, and
// nobody can tell.
func TestAGlanceDrawsWhatTheWholePictureDraws(t *testing.T) {
	now := time.Now()
	store := account.NewStore(account.StoreConfig{})
	states := []api.IntentState{api.Completed, api.Completed, api.Completed, api.Failed, api.AwaitingConfirmation, api.PlacingOrder, api.RetrievingOffer}
	for i := range 1000 {
		in := api.Intent{ID: api.ID(fmt.Sprintf("ci_%04d", i)), State: states[i%len(states)], Quantity: 1,
			ProductURL: api.Text(fmt.Sprintf("https://shop.example/products/mug-%d", i)), CreatedAt: now.Add(-time.Duration(1200-i) * time.Second)}
		in.Offer = &api.Offer{ProductTitle: "Mug", Cost: api.Cost{Total: &api.Money{Currency: "USD", Subunits: int64(1000 + i)}}}
		store.ApplyRead(in, now, account.ByRead)
	}
	for i := range 300 {
		at := now.Add(time.Duration(i-300) * time.Second)
		store.ApplyEvents([]account.Delivery{{Seq: int64(i + 1), Received: at, Origin: "webhook", Event: api.Event{
			ID: api.ID(fmt.Sprintf("evt_%d", i)), Type: api.OfferRetrieved, CreatedAt: at, Source: api.EventSource{ID: api.ID(fmt.Sprintf("ci_%04d", i)), Type: api.SourceIntent},
		}}}, at)
	}
	saved, err := account.OpenSaved(account.SavedConfig{Dir: t.TempDir(), Account: "a shop"})
	if err != nil {
		t.Fatal(err)
	}
	if err := saved.Save(store); err != nil {
		t.Fatal(err)
	}
	restored := account.NewStore(account.StoreConfig{})
	glance, ok := saved.Glance(restored)
	if !ok {
		t.Fatal("there is no glance")
	}
	if err := saved.Restore(restored); err != nil {
		t.Fatal(err)
	}
	for _, size := range []tea.WindowSizeMsg{{Width: 200, Height: 60}, {Width: 160, Height: 45}, {Width: 80, Height: 24}} {
		t.Run(fmt.Sprintf("%dx%d", size.Width, size.Height), func(t *testing.T) {
			m := New(Config{Source: restored, NoColor: true, Now: func() time.Time { return now }})
			m.Update(size)
			m.Update(changesMsg{glance})
			first := drawing(m)
			m.Update(changesMsg{restored.Changes(0)})
			if whole := drawing(m); first != whole {
				t.Errorf("the first frame is\n%s\nthe next is\n%s", first, whole)
			}
		})
	}
}
