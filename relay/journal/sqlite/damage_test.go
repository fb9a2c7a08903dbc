package sqlite

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tillwatch/relay/journal"
)

// The long form of the test that damages a journal at every byte:
//
//	go test ./relay/journal/sqlite -run EveryByte -every-byte -v -timeout 2h
var everyByte = flag.Bool("every-byte", false, "damage a journal at each byte, not at a sample of them")

// image is what a journal leaves on the disk, with what it should hold.
type image struct {
	files   map[string][]byte
	epoch   string
	oldest  int64
	records []journal.Record
	known   []journal.Entry
	bodies  []journal.Unreadable
}

// outcomes of opening a damaged journal.
const (
	served    = "served right"
	gap       = "gap"
	renewed   = "new epoch"
	shortened = "newest events gone, as in an older copy"
	refused   = "refused with a sentence"
	later     = "took events, refused at the next start with a sentence"
	full      = "opened, takes no more events, with a sentence"
	wrong     = "WRONG"
)

const freshID = "fresh"

var started = time.Date(2026, 4, 21, 3, 27, 50, 0, time.UTC)

// damageable makes a small journal with events of all kinds. killed leaves its log as the end of its process would.
func damageable(t *testing.T, pageSize int, killed bool) image {
	t.Helper()
	dir := t.TempDir()
	execute(t, dir, fmt.Sprintf("PRAGMA page_size = %d; VACUUM", pageSize))
	j := opened(t, dir)
	var p image
	for n := range 24 {
		p.known = append(p.known, journal.Entry{
			ID: fmt.Sprintf("evt_ci_%d_completed", n), Type: "checkout_intent.completed", Origin: journal.Webhook,
			CreatedAt: started.Add(time.Duration(n) * time.Second), Received: started.Add(time.Duration(n) * time.Minute),
			Body: fmt.Appendf(nil, `{"n":%d,"is":"%s"}`, n, strings.Repeat("x", n*n)),
		})
	}
	other := p.known[6]
	other.Body = []byte("{}")
	for _, call := range [][]journal.Entry{p.known[:20], {p.known[5], other}, p.known[20:]} {
		if _, err := j.Append(t.Context(), call); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 2 {
		u := journal.Unreadable{Received: started.Add(time.Hour), Reason: "not JSON", Body: bytes.Repeat([]byte("?"), 100+900*n)}
		p.bodies = append(p.bodies, u)
		if err := j.Quarantine(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	slices.Reverse(p.bodies)
	var err error
	if p.records, err = j.Read(t.Context(), 0, 100); err != nil || len(p.records) != len(p.known) {
		t.Fatal(len(p.records), err)
	}
	removed, err := j.Prune(t.Context(), p.known[4].Received)
	if err != nil || removed != 4 {
		t.Fatal(removed, err)
	}
	p.epoch, p.oldest = j.Epoch(), removed+1
	names := []string{databaseName}
	if killed {
		names = append(names, databaseName+"-wal")
	} else {
		closeAll(t, j)
	}
	p.files = map[string][]byte{}
	for _, name := range names {
		if p.files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	closeAll(t, j)
	return p
}

// examine puts content in the place of one file, and says what comes of it; why is what went wrong.
func (p image) examine(t *testing.T, dir, name string, content []byte) (outcome string, why error) {
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for other, was := range p.files {
		if other == name {
			was = content
		}
		write(t, filepath.Join(dir, other), string(was))
	}
	j, err := Open(t.Context(), dir)
	if err != nil {
		return refused, sentence(err)
	}
	defer j.Close()
	outcome, err = p.compare(t, j)
	if err != nil {
		return wrong, err
	}
	fresh := journal.Entry{ID: freshID, Received: started.Add(time.Hour), Body: []byte(`{"fresh":true}`)}
	results, err := j.Append(t.Context(), []journal.Entry{fresh})
	if err != nil {
		return full, sentence(errors.Join(err, nil))
	}
	if outcome != shortened {
		if err := p.again(t, j); err != nil {
			return wrong, err
		}
	}
	_ = j.Close()
	if j, err = Open(t.Context(), dir); err != nil {
		return later, sentence(err)
	}
	defer j.Close()
	record, found, err := j.Find(t.Context(), fresh.ID)
	if err != nil || !found || record.Seq != results[0].Seq || !bytes.Equal(record.Body, fresh.Body) {
		return wrong, fmt.Errorf("an acknowledged event is %+v, %w", record, err)
	}
	if again, err := p.compare(t, j); err != nil || again != outcome && again != gap {
		return wrong, fmt.Errorf("opened again it is %s, %s before: %w", again, outcome, err)
	}
	return outcome, nil
}

// compare reads everything, and compares it with what was stored.
func (p image) compare(t *testing.T, j journal.Journal) (outcome string, err error) {
	head, _ := j.Head(t.Context())
	oldest, _ := j.Oldest(t.Context())
	outcome = served
	var got []journal.Record
	for after := int64(0); after < head; {
		records, err := j.Read(t.Context(), after, 7)
		if err != nil || len(records) == 0 || len(got) > 1000 {
			return wrong, fmt.Errorf("read after %d of %d: %d records, %w", after, head, len(records), err)
		}
		got, after = append(got, records...), records[len(records)-1].Seq
	}
	for i, r := range got {
		if r.Seq != max(oldest, 1)+int64(i) {
			return wrong, fmt.Errorf("read %d at %d from %d on", r.Seq, i, oldest)
		}
		switch {
		case r.Damaged:
			outcome = gap
		case r.ID == freshID:
		case int(r.Seq) > len(p.records):
			if !slices.ContainsFunc(p.known[:p.oldest-1], func(e journal.Entry) bool { return e.ID == r.ID }) {
				return wrong, fmt.Errorf("read %+v", r)
			}
		case !same(r, p.records[r.Seq-1]):
			return wrong, fmt.Errorf("read %+v", r)
		}
	}
	kept, err := j.Quarantined(t.Context(), 10)
	if err != nil {
		return wrong, err
	}
	for _, u := range kept {
		if !slices.ContainsFunc(p.bodies, func(v journal.Unreadable) bool { return string(u.Body) == string(v.Body) }) {
			return wrong, fmt.Errorf("quarantined is %+v", u)
		}
	}
	if len(kept) != len(p.bodies) || oldest > p.oldest {
		outcome = gap
	}
	switch {
	case head < int64(len(p.records)), oldest < p.oldest:
		outcome = shortened
	case j.Epoch() != p.epoch:
		outcome = renewed
	}
	return outcome, nil
}

func same(a, b journal.Record) bool {
	a.Duplicates, a.Conflicts = b.Duplicates, b.Conflicts // it may have come again, or be of an older copy
	return fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b)
}

// again appends all known events: none of them is new.
func (p image) again(t *testing.T, j journal.Journal) error {
	results, err := j.Append(t.Context(), p.known)
	if err != nil {
		return fmt.Errorf("known events: %w", err)
	}
	for i, r := range results {
		if !r.Duplicate || r.Seq != int64(i+1) || r.Conflict {
			if int64(i+1) < p.oldest {
				continue // its body is gone: nothing else holds its id
			}
			return fmt.Errorf("known event %d: %+v", i+1, r)
		}
	}
	return nil
}

// sentence returns an error unless err is a line that says what to do.
func sentence(err error) error {
	for _, advice := range []string{"restore it from a copy", "choose another folder"} {
		if strings.Contains(err.Error(), advice) && !strings.Contains(err.Error(), "\n") {
			return nil
		}
	}
	return fmt.Errorf("no advice: %w", err)
}

func TestEveryByteOfAJournalThatIsDamagedHarmsNothingButItself(t *testing.T) {
	root := "/dev/shm"
	if _, err := os.Stat(root); err != nil {
		root = t.TempDir()
	}
	for name, p := range map[string]image{
		"small pages":               damageable(t, 512, false),
		"pages of the usual size":   damageable(t, 4096, false),
		"after a kill, small pages": damageable(t, 512, true),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := os.MkdirTemp(root, "journal")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			for file, content := range p.files {
				flips, cuts := map[string]int{}, map[string]int{}
				step := 1
				if !*everyByte {
					step = 997
				}
				for at := 0; at < len(content); at += step {
					flipped := bytes.Clone(content)
					flipped[at] ^= 1 << (at % 8)
					for damage, tally := range map[string]map[string]int{"flipped": flips, "cut": cuts} {
						damaged := flipped
						if damage == "cut" {
							damaged = content[:at]
						}
						outcome, why := p.examineInTime(t, dir, file, damaged)
						tally[outcome]++
						if outcome == later || outcome == full {
							t.Logf("%s %s at %d: %s", file, damage, at, outcome)
						}
						if why != nil {
							t.Errorf("%s %s at %d: %s: %v", file, damage, at, outcome, why)
						}
					}
				}
				for damage, tally := range map[string]map[string]int{"flipped": flips, "cut": cuts} {
					for _, outcome := range slices.Sorted(maps.Keys(tally)) {
						t.Logf("%-14s %-8s %6d %s", file, damage, tally[outcome], outcome)
					}
				}
			}
		})
	}
}

func (p image) examineInTime(t *testing.T, dir, name string, content []byte) (outcome string, why error) {
	hung := time.AfterFunc(time.Minute, func() { panic("it hangs") })
	defer hung.Stop()
	return p.examine(t, dir, name, content)
}
