package account

import (
	"testing"

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
			panicked := func() (panicked bool) {
				defer func() { panicked = recover() != nil }()
				do(w)
				return false
			}()
			if !panicked {
				t.Error("without a queue it does not panic")
			}
			if !w.mu.TryLock() {
				t.Error("the lock is still held")
			}
		})
	}
}
