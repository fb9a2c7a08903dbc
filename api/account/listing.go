package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// ListState says how far the service's list of intents was read. The contract
// does not show such a list.
type ListState uint8

// The states of the list.
const (
	ListUnread    ListState = iota // nothing of it was read yet
	ListPartly                     // some of its pages were read
	ListWhole                      // it was read to its end
	ListCut                        // as much as is taken of it was read; there may be more
	ListNotServed                  // the service has none
)

// String is the state in a word.
func (s ListState) String() string {
	switch s {
	case ListPartly:
		return "partly"
	case ListWhole:
		return "whole"
	case ListCut:
		return "cut"
	case ListNotServed:
		return "not served"
	}
	return "unread"
}

// MarshalText makes the state the word that it has in JSON.
func (s ListState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes a word that is not known for the first state.
func (s *ListState) UnmarshalText(word []byte) error {
	*s = stateOfWord(word, ListNotServed)
	return nil
}

// ListStatus is what was read of the service's list of intents in this run.
type ListStatus struct {
	State      ListState `json:"state"`
	Intents    int       `json:"intents,omitempty"`    // on the pages that were read
	Unreadable int       `json:"unreadable,omitempty"` // items of them that are no intents
	Err        error     `json:"-"`                    // why it could not be read the last time; nil when it could
}

// listPage is how many items a page of the service has unless asked otherwise.
const listPage = 100

// keepListing reads the list of intents that a service may or may not have: to
// its end at first, then its newest pages again and again, as they alone show an
// intent before its offer. A service without the list is asked once.
func (w *Watcher) keepListing(ctx context.Context) {
	if len(w.cfg.Only) > 0 {
		return
	}
	first := sync.OnceFunc(func() { close(w.asked) })
	defer first()
	for failed := 0; ; {
		pause := w.cfg.ListEvery
		err := caught(func() error { return w.list(ctx) })
		first()
		switch {
		case errors.Is(err, api.ErrNotServed):
			return
		case err != nil:
			failed++
			pause = listPause(failed, err)
		default:
			failed = 0
		}
		if !w.nap(ctx, pause) {
			return
		}
	}
}

// caught turns a panic of a reader into an error.
func caught(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read: %v", p)
		}
	}()
	return work()
}

// list reads the list: all of it, or, once that was read, its newest pages up to
// one that holds nothing new.
func (w *Watcher) list(ctx context.Context) error {
	l := &listing{store: w.store, most: w.cfg.List, status: w.store.listStatus(intentList), sent: time.Now()}
	if l.newest = l.status.State == ListWhole || l.status.State == ListCut; !l.newest {
		l.status.Unreadable = 0
	}
	end := ListWhole
	for in, err := range w.cfg.Reader.Intents(quota.WithPriority(ctx, quota.Reconcile)) {
		if isOneItem(err) {
			if !l.newest {
				l.status.Unreadable++
			}
			continue
		}
		if err != nil {
			return w.listFailed(ctx, l, err)
		}
		if full := l.add(in); !full {
			continue
		}
		if news := l.flush(); l.newest && !news {
			break
		}
		if l.taken == l.most {
			end = ListCut
			break
		}
	}
	if len(l.page) > 0 || l.taken == 0 { // a list without items was read, too
		l.flush()
	}
	if !l.newest {
		l.status.State = end
	}
	l.status.Err = nil
	w.serviceAnswered()
	w.store.setList(intentList, l.status)
	return nil
}

// listFailed takes what was read before err and notes why there is no more of it.
// That the service has no list is no failure.
func (w *Watcher) listFailed(ctx context.Context, l *listing, err error) error {
	if len(l.page) > 0 {
		l.flush()
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, api.ErrNotServed):
		l.status = ListStatus{State: ListNotServed}
	default:
		w.store.readFailed(err)
		w.judgeKey(time.Now())
		l.status.Err = err
	}
	w.store.setList(intentList, l.status)
	return err
}

// listing is one reading of the list. All of it counts as sent when its first
// page was: an older truth never overwrites a newer one.
type listing struct {
	store  *Store
	most   int
	newest bool // the list was read before: only what is new is wanted
	status ListStatus
	sent   time.Time
	page   []api.Intent
	taken  int
}

// add takes an intent and reports whether there are enough to be merged.
func (l *listing) add(in api.Intent) (full bool) {
	if l.taken == 0 {
		l.sent = cmp.Or(in.Response.Sent, l.sent)
	}
	l.page = append(l.page, in)
	l.taken++
	return len(l.page) == listPage || l.taken == l.most
}

// flush merges what was taken and reports whether it names an intent that was not
// known.
func (l *listing) flush() (news bool) {
	news = l.store.ApplyList(l.page, l.sent)
	l.page = nil
	if !l.newest {
		l.status.State, l.status.Intents = ListPartly, l.taken
		l.store.setList(intentList, l.status)
	}
	return news
}
