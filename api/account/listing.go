package account

import (
	"context"
	"errors"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// listPage is how many items a page of the service has unless asked otherwise.
const listPage = 100

// keepListing reads the list of intents that a service may or may not have:
// deep at the start, then its newest page again and again, as that alone shows
// an intent before its offer. A service without the list is asked once.
func (w *Watcher) keepListing(ctx context.Context) {
	if len(w.cfg.Only) > 0 {
		return
	}
	served := w.list(ctx, w.cfg.List)
	ticker := time.NewTicker(w.cfg.ListEvery)
	defer ticker.Stop()
	for served {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			served = w.list(ctx, listPage)
		}
	}
}

// list merges the newest intents, most at the most, and reports whether asking
// again makes sense. All of them count as sent when the first page was, those of
// later pages too: an older truth never overwrites a newer one.
func (w *Watcher) list(ctx context.Context, most int) (served bool) {
	sent := time.Now()
	taken := 0
	var page []api.Intent
	flush := func() {
		w.store.ApplyList(page, sent)
		taken += len(page)
		page = nil
	}
	served = true
	for in, err := range w.cfg.Reader.Intents(api.WithSent(quota.WithPriority(ctx, quota.Reconcile), &sent)) {
		if isOneItem(err) {
			continue
		}
		if err != nil {
			served = !errors.Is(err, api.ErrNotServed)
			if ctx.Err() == nil && served {
				w.store.countFailedRead()
				if errors.Is(err, api.ErrUnauthorized) {
					w.store.refuseKey(err)
				}
			}
			break
		}
		if page = append(page, in); len(page) == listPage {
			flush()
		}
		if taken+len(page) >= most {
			break
		}
	}
	if len(page) > 0 {
		flush()
	}
	return served
}
