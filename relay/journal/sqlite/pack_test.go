package sqlite

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tillwatch/relay/journal"
)

func TestAPackKeepsWhatWentIntoItAndItsRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.Rune())
		first := rapid.Int64Range(1, 1<<40).Draw(t, "first")
		p := pack{}
		p.begin(first, 0)
		var all []journal.Record
		for n := range rapid.Int64Range(1, 20).Draw(t, "events") {
			e := journal.Entry{
				ID: text.Draw(t, "id"), Type: text.Draw(t, "type"), Origin: journal.Origin(text.Draw(t, "origin")),
				Received: time.Unix(0, rapid.Int64().Draw(t, "received")).UTC(),
				Body:     rapid.SliceOf(rapid.Byte()).Draw(t, "body"),
			}
			p.add(e)
			all = append(all, journal.Record{Seq: first + n, Entry: e})
		}
		keep := rapid.Int64Range(first, p.last).Draw(t, "keep")
		kept, err := p.without(keep)
		if err != nil {
			t.Fatal(err)
		}
		for _, each := range []struct {
			pack pack
			want []journal.Record
		}{{p, all}, {kept, all[keep-first:]}} {
			stored := pack{each.pack.first, each.pack.last, each.pack.latest, bytes.Clone(each.pack.seal())}
			if err := stored.check(); err != nil {
				t.Fatal(err)
			}
			events := stored.events()
			for _, want := range each.want {
				if !events.next() {
					t.Fatalf("event %d is missing: %v", want.Seq, events.err)
				}
				got := events.record()
				same := got.Seq == want.Seq && got.ID == want.ID && got.Type == want.Type && got.Origin == want.Origin &&
					got.CreatedAt.IsZero() && got.Received.Equal(want.Received) && bytes.Equal(got.Body, want.Body)
				if !same && want.Received.UnixNano() != 0 {
					t.Fatalf("event is %+v, want %+v", got, want)
				}
			}
			if events.next() || events.err != nil {
				t.Fatalf("more follows event %d: %v", stored.last, events.err)
			}
		}
	})
}

func TestAFlippedBitOfAPackIsNoticed(t *testing.T) {
	p := pack{}
	p.add(journal.Entry{ID: "a", Body: []byte("body")})
	data := bytes.Clone(p.seal())
	for bit := range 8 * len(data) {
		flipped := bytes.Clone(data)
		flipped[bit/8] ^= 1 << (bit % 8)
		if (&pack{first: 1, last: 1, data: flipped}).check() == nil {
			t.Errorf("bit %d is flipped, and nobody notices", bit)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	p := pack{}
	p.add(journal.Entry{ID: "evt_1", Type: "checkout_intent.completed", Origin: journal.Webhook, Body: []byte("{}")})
	p.add(journal.Entry{})
	f.Add(bytes.Clone(p.data[sumSize:]), 2)
	f.Add([]byte{}, 0)
	f.Add(binary.AppendUvarint([]byte{0, 0}, 1<<63), 1)
	f.Fuzz(func(t *testing.T, records []byte, count int) {
		count = max(0, min(count, 1000))
		p := pack{first: 1, last: int64(count), data: append(make([]byte, sumSize), records...)}
		p.seal()
		if err := p.check(); err != nil {
			t.Fatal(err)
		}
		events := p.events()
		read := 0
		for events.next() {
			read++
		}
		if (events.err == nil) != (read == count && len(events.rest) == 0) {
			t.Errorf("%d of %d events, %d bytes left, %v", read, count, len(events.rest), events.err)
		}
	})
}
