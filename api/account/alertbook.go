package account

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"tillwatch/api"
)

// alertKey makes an alert the same as long as it stands.
type alertKey struct {
	kind   AlertKind
	intent api.ID // when it is about one
	cause  string // tells alerts of one kind apart that are about no intent
}

// alertBook holds the alerts that stand. There may be very many, and each screen
// is told all of them in order: they are put in order by merging what has changed
// into the order before, while nobody is kept waiting.
type alertBook struct {
	standing map[alertKey]*Alert // what one points at never changes
	most     int                 // that stood since it was made, as far as clear has seen
	list     []Alert             // in order, as of the first so many changes; it is replaced, never changed
	settled  uint64
	changes  []alertChange          // those after
	empty    map[alertKey]time.Time // buckets of short windows, and since when nothing is left
	silence  silence
}

// alertChange is an alert that was raised, or one that was cleared.
type alertChange struct {
	alert *Alert
	over  bool
}

func (b *alertBook) raise(key alertKey, a Alert) {
	if b.standing == nil {
		b.standing = map[alertKey]*Alert{}
	}
	b.clear(key)
	b.standing[key] = &a
	b.note(alertChange{alert: &a})
}

func (b *alertBook) clear(key alertKey) {
	if a, stands := b.standing[key]; stands {
		delete(b.standing, key)
		b.note(alertChange{alert: a, over: true})
		b.shrink()
	}
}

// shrink gives back what many alerts took that are over: a map never becomes
// smaller by itself.
func (b *alertBook) shrink() {
	b.most = max(b.most, len(b.standing)+1)
	if b.most < unlisted || len(b.standing) > b.most/8 {
		return
	}
	few := make(map[alertKey]*Alert, len(b.standing))
	maps.Copy(few, b.standing)
	b.standing, b.most = few, len(few)
}

// unlisted is how many changes are noted at least until they are merged although
// nobody has looked.
const unlisted = 4096

func (b *alertBook) note(c alertChange) {
	b.changes = append(b.changes, c)
	if len(b.changes) > unlisted+4*(len(b.list)+len(b.standing)) {
		look := b.look()
		b.settle(&look, look.inOrder())
	}
}

// alertLook is all it takes to list the alerts that stood at one moment.
type alertLook struct {
	list    []Alert
	changes []alertChange
	until   uint64 // so many changes were there
}

func (b *alertBook) look() alertLook {
	n := len(b.changes)
	return alertLook{b.list, b.changes[:n:n], b.settled + uint64(n)}
}

// settle takes over a list that was made from a look, unless a newer one was.
func (b *alertBook) settle(l *alertLook, list []Alert) {
	if l.until > b.settled {
		if b.changes = b.changes[l.until-b.settled:]; len(b.changes) == 0 {
			b.changes = nil
		}
		b.list, b.settled = list, l.until
	}
}

// listAlerts lists alerts, the longest standing first.
func (s *Store) listAlerts(l alertLook) []Alert {
	if len(l.changes) == 0 {
		return l.list
	}
	list := l.inOrder()
	s.mu.Lock()
	s.alerts.settle(&l, list)
	s.mu.Unlock()
	return list
}

func (l *alertLook) inOrder() []Alert {
	var raised, over []*Alert
	for _, c := range l.changes {
		if c.over {
			over = append(over, c.alert)
		} else {
			raised = append(raised, c.alert)
		}
	}
	slices.SortFunc(raised, compareAlerts)
	slices.SortFunc(over, compareAlerts)
	list := make([]Alert, 0, max(0, len(l.list)+len(raised)-len(over)))
	for before := l.list; len(before)+len(raised) > 0; {
		var next *Alert
		if len(before) == 0 || len(raised) > 0 && compareAlerts(raised[0], &before[0]) < 0 {
			next, raised = raised[0], raised[1:]
		} else {
			next, before = &before[0], before[1:]
		}
		if len(over) > 0 && compareAlerts(over[0], next) == 0 {
			over = over[1:]
		} else {
			list = append(list, *next)
		}
	}
	return slices.Clip(list)
}

func compareAlerts(a, b *Alert) int {
	return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Intent, b.Intent), cmp.Compare(a.Text, b.Text), a.Due.Compare(b.Due))
}
