package account

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tillwatch/api"
)

// history is so many intents that have long since expired.
func history(n int) []*life {
	var lives []*life
	for i := range n {
		lives = append(lives, expired(api.ID(fmt.Sprintf("ci_%04d", i)), time.Now().Add(-30*time.Hour-time.Duration(i)*time.Minute), time.Second))
	}
	return lives
}

func TestTheListIsReadToItsEndHoweverOftenItFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := newService(history(450)...)
		svc.lists, svc.page = true, 100
		pages := 0
		svc.fail = func(path string, _ int) error {
			if path != "intents" {
				return nil
			}
			if pages++; pages == 1 || pages == 4 {
				return errBroken
			}
			return nil
		}
		watched(t, svc, nil, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			pass(10 * time.Millisecond) // the first page is under way
			if got := s.Summary().List; got.State != ListUnread {
				t.Errorf("before anything is read: %+v", got)
			}
			pass(1200 * time.Millisecond) // after a pause two pages were read, the third failed
			if got := s.Summary(); got.List.State != ListPartly || got.List.Intents != 200 || got.List.Err == nil || got.Intents[api.Failed] != 200 {
				t.Errorf("after the third page has failed: %+v, %v", got.List, got.Intents)
			}
			pass(time.Minute)
			if got := s.Summary(); got.List != (ListStatus{State: ListWhole, Intents: 450}) || got.Intents[api.Failed] != 450 {
				t.Errorf("after a minute: %+v, %v", got.List, got.Intents)
			}
		})
	})
}

func TestAListThatWasReadToItsEndIsReadAgainUpToWhatIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lives := history(450)
		for i := range 150 {
			id, created := api.ID(fmt.Sprintf("ci_new_%03d", i)), time.Now().Add(10*time.Second)
			lives = append(lives, expired(id, created, time.Hour))
		}
		svc := newService(lives...)
		svc.lists, svc.page = true, 100
		watched(t, svc, nil, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			pass(9 * time.Second)
			before := len(svc.callsTo("intents"))
			pass(30 * time.Second) // 150 at once: the second page brings news, too, and the third none
			if got := s.Summary().Intents[api.RetrievingOffer]; got != 150 {
				t.Errorf("%d of 150 new intents are known", got)
			}
			if pages := len(svc.callsTo("intents")) - before; pages != 3 {
				t.Errorf("%d pages were read again, want 3", pages)
			}
			pass(30 * time.Second)
			if pages := len(svc.callsTo("intents")) - before; pages != 4 {
				t.Errorf("%d pages were read again, want one more where nothing is new", pages)
			}
		})
	})
}

func TestAListThatIsLongerThanWhatIsTakenOfItIsSaidToBe(t *testing.T) {
	for most, want := range map[int]ListState{449: ListCut, 450: ListCut, 451: ListWhole} {
		synctest.Test(t, func(t *testing.T) {
			svc := newService(history(450)...)
			svc.lists, svc.page = true, 100
			watched(t, svc, nil, WatcherConfig{List: most}, func(t *testing.T, s *Store, w *Watcher) {
				pass(10 * time.Second)
				if got := s.Summary().List; got.State != want || got.Intents != min(most, 450) {
					t.Errorf("of at most %d of 450: %+v, want state %d", most, got, want)
				}
			})
		})
	}
}

func TestAnIncompleteListIsAnAlertUntilItIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := newService(sold("ci_1", time.Now().Add(-time.Minute), time.Second, time.Second, time.Second))
		svc.lists = true
		svc.cut.Store(true)
		watched(t, svc, nil, WatcherConfig{}, func(t *testing.T, s *Store, w *Watcher) {
			pass(time.Second)
			mustBe(t, s, "ci_1", api.Completed, Verified)
			var said []string
			for _, a := range s.Summary().Alerts {
				said = append(said, string(a.Kind)+": "+a.Text)
			}
			want := []string{"api: intents may be missing: the list is incomplete", "api: shipments may be missing: the list is incomplete"}
			if slices.Sort(said); !slices.Equal(said, want) {
				t.Errorf("alerts %q, want %q", said, want)
			}
			svc.cut.Store(false)
			pass(time.Hour)
			if left := s.Summary().Alerts; len(left) > 0 {
				t.Errorf("alerts %v once the lists are whole", left)
			}
		})
	})
}
