package account

import (
	"io"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// What panics ends the watcher, and that needs the lock.
func TestPanicLetsTheWatchersLockGo(t *testing.T) {
	for name, do := range map[string]func(*Watcher){
		"dispatch": func(w *Watcher) { w.dispatch(t.Context()) },
		"perform": func(w *Watcher) {
			w.perform(t.Context(), &round{tasks: []task{{readIntent, "ci_1"}}, priority: quota.Timer})
		},
		"feed": func(w *Watcher) { w.FeedChanged(FeedStatus{State: FeedLive}) },
		"key":  func(w *Watcher) { w.TryKey() },
	} {
		t.Run(name, func(t *testing.T) {
			s := NewStore(StoreConfig{})
			s.know("ci_1", true)
			w := NewWatcher(WatcherConfig{Store: s, Reader: newService(), WatchIDs: []api.ID{"ci_1"}})
			w.refusal.stands, w.queue = true, nil
			mustPanic(t, func() { do(w) })
			if !w.mu.TryLock() {
				t.Error("the lock is still held")
			}
		})
	}
}

func TestPanicLetsTheStoresLockGo(t *testing.T) {
	observed := []quota.Observation{{ID: "o1", Sent: time.Now(), Method: "GET", Status: 200}}
	for name, do := range map[string]func(*Store){
		"observation": func(s *Store) { s.Observe(observed) },
		"save":        func(s *Store) { s.intents = intents{}; _ = s.savePicture(io.Discard, SavedConfig{}) },
	} {
		t.Run(name, func(t *testing.T) {
			s := NewStore(StoreConfig{Observed: func(*quota.Observation) { panic("broken observer") }})
			mustPanic(t, func() { do(s) })
			if !s.mu.TryLock() {
				t.Error("the lock is still held")
			}
		})
	}
}

func mustPanic(t *testing.T, do func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("it does not panic")
		}
	}()
	do()
}
