package account

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"tillwatch/api"
)

// requestLog keeps the newest requests.
type requestLog struct {
	news *news
	keep int
	list []recordedRequest // in order of arrival
}

type recordedRequest struct {
	exchange api.Exchange
	version  uint64
}

func (l *requestLog) add(e api.Exchange) {
	l.list = newest(append(l.list, recordedRequest{e, l.news.stamp()}), l.keep)
}

// since lists the requests that became known after version, oldest first.
func (l *requestLog) since(version uint64) []api.Exchange {
	var list []api.Exchange
	for _, r := range l.list {
		if r.version > version {
			list = append(list, r.exchange)
		}
	}
	return list
}

// newest returns the last most values of a list.
func newest[V any](list []V, most int) []V { return list[max(len(list)-most, 0):] }

// RecordExchange keeps a request and judges the API's health by it. Use it as [api.Config.Observe].
func (s *Store) RecordExchange(e api.Exchange) {
	if e.Status == 0 && errors.Is(e.Err, context.Canceled) {
		return // cancelled here, which says nothing of the service
	}
	s.update(func(now time.Time) {
		s.requests.add(e)
		s.spenders.own(&e, now)
		s.latencies.add(&e)
		s.health.exchanged(&e, now)
		s.intents.day.refuse(&e, now)
		s.alerts.judgeAPI(&s.health, now)
	})
}

// RequestsAbout lists the kept requests whose path contains one of these ids, oldest first.
func (s *Store) RequestsAbout(ids ...api.ID) []api.Exchange {
	all := look(s, func() []api.Exchange { return s.requests.since(0) })
	return slices.DeleteFunc(all, func(e api.Exchange) bool {
		path, _, _ := strings.Cut(e.Path, "?")
		return !slices.ContainsFunc(ids, func(id api.ID) bool { return strings.Contains(path+"/", "/"+url.PathEscape(string(id))+"/") })
	})
}
