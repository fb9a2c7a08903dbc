package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"tillwatch/relay/journal"
)

const (
	defaultPage       = 100
	maxPage           = 1000
	maxQuarantinePage = 50
	// quarantineBytes is how many bytes of bodies end a page: after so many, the journal still returns the next item.
	quarantineBytes = journal.QuarantineBytes - MaxBody
	// maxScan bounds the events examined for a filtered page.
	maxScan = 20_000
)

// page is the answer of GET /v1/events. Next is the cursor for the next request; with a type, an empty page may
// have more after it. Gaps are what cannot be read any more between after and next.
type page struct {
	Epoch  string            `json:"epoch"`
	Head   int64             `json:"head"`
	Oldest int64             `json:"oldest"`
	Next   string            `json:"next"`
	Gaps   []span            `json:"gaps,omitempty"`
	Events []json.RawMessage `json:"events"`
}

// pageQuery is what the query of GET /v1/events asks for.
type pageQuery struct {
	after cursor
	limit int
	types filter
}

// listEvents serves the events after a sequence number or cursor.
func (r *Relay) listEvents(w http.ResponseWriter, req *http.Request) {
	query, err := readPageQuery(req.URL.RawQuery, r.journal.Epoch())
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	found, err := r.readPage(req.Context(), query)
	switch {
	case errors.Is(err, errAnother):
		refuse(w, http.StatusUnprocessableEntity, fmt.Sprintf(
			"after: event %d is not in the journal, whose newest is %d: begin at 0", query.after.seq, found.Head))
	case err != nil:
		r.answerUnreadable(w, err)
	default:
		r.answerJSON(w, found)
	}
}

func readPageQuery(text, epoch string) (pageQuery, error) {
	var query pageQuery
	values, err := readQuery(text)
	if err != nil {
		return query, err
	}
	query.after.epoch = epoch
	if text := values.Get("after"); text != "" {
		if !strings.Contains(text, ":") {
			text = epoch + ":" + text
		}
		at, err := parseCursor(text)
		switch {
		case err != nil:
			return query, fmt.Errorf("after: give a sequence number or a cursor <epoch>:<seq>, not %.80q",
				values.Get("after"))
		case at.epoch != epoch:
			return query, fmt.Errorf("after: the cursor belongs to another journal than %s: begin at 0", epoch)
		}
		query.after = at
	}
	if query.limit, err = readLimit(values, maxPage); err != nil {
		return query, err
	}
	query.types, err = newFilter(values["type"])
	return query, err
}

// readQuery reads a query whole: one that is read in part may ask for something else.
func readQuery(text string) (url.Values, error) {
	values, err := url.ParseQuery(text)
	if err != nil {
		return nil, errors.New(
			"the query cannot be read: write it as in after=17&limit=100, with % for special characters")
	}
	return values, nil
}

// readLimit reads the limit parameter, at most highest.
func readLimit(values url.Values, highest int) (int, error) {
	text := values.Get("limit")
	if text == "" {
		return min(defaultPage, highest), nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > highest {
		return 0, fmt.Errorf("limit: give a number from 1 to %d, not %.20q", highest, text)
	}
	return limit, nil
}

func (r *Relay) readPage(ctx context.Context, query pageQuery) (page, error) {
	oldest, err := r.journal.Oldest(ctx)
	if err != nil {
		return page{}, err
	}
	head, err := r.journal.Head(ctx)
	if err != nil {
		return page{}, err
	}
	found := page{Epoch: r.journal.Epoch(), Head: head, Oldest: oldest, Events: []json.RawMessage{}}
	at, size, scanned := query.after, 0, 0
	full := func() bool { return scanned >= maxScan || len(found.Events) == query.limit || size >= frameBytes }
	for !full() {
		events, err := readEvents(ctx, r.journal, at, head)
		if err != nil {
			return found, err
		}
		if len(events) == 0 {
			break
		}
		for _, event := range events {
			if full() {
				break
			}
			at = at.after(event.seq, event.id)
			scanned++
			switch {
			case event.gap:
				found.Gaps = append(found.Gaps, span{event.from, event.seq})
			case query.types.matches(event.kind):
				found.Events = append(found.Events, event.text)
				size += len(event.text)
			}
		}
		if at.seq >= head {
			break
		}
	}
	found.Next = at.position()
	return found, nil
}

// rawEvent serves the exact signed bytes.
func (r *Relay) rawEvent(w http.ResponseWriter, req *http.Request) {
	record, found := r.findEvent(w, req)
	if !found {
		return
	}
	w.Header().Set("Tillwatch-Cursor", r.cursorOf(record))
	answer(w, http.StatusOK, "application/octet-stream", record.Body)
}

// cursorOf returns the cursor of an event.
func (r *Relay) cursorOf(record journal.Record) string {
	return cursor{epoch: r.journal.Epoch(), seq: record.Seq}.String()
}

// oneEvent is the answer of GET /v1/events/{id}.
type oneEvent struct {
	Cursor string `json:"cursor"`
	wireItem
}

// oneEvent serves an event in the form of a page's items, with its cursor.
func (r *Relay) oneEvent(w http.ResponseWriter, req *http.Request) {
	if record, found := r.findEvent(w, req); found {
		r.answerJSON(w, oneEvent{r.cursorOf(record), itemOf(record)})
	}
}

// findEvent finds the event named by a path, or answers why there is none.
func (r *Relay) findEvent(w http.ResponseWriter, req *http.Request) (journal.Record, bool) {
	record, found, err := r.journal.Find(req.Context(), req.PathValue("id"))
	switch {
	case err != nil:
		r.answerUnreadable(w, err)
	case !found:
		refuse(w, http.StatusNotFound, "there is no such event in the journal")
	case record.Damaged:
		refuse(w, http.StatusGone, "the journal has this event, but its body is damaged")
	case record.Body == nil:
		refuse(w, http.StatusGone, "the journal no longer has the body of this event")
	default:
		return record, true
	}
	return journal.Record{}, false
}

// quarantinePage is the answer of GET /v1/quarantine, the newest first. More says that there are older ones.
type quarantinePage struct {
	Items []Quarantined `json:"items"`
	More  bool          `json:"more"`
}

// listQuarantine serves the newest signed bodies that are not events.
func (r *Relay) listQuarantine(w http.ResponseWriter, req *http.Request) {
	limit := 0
	values, err := readQuery(req.URL.RawQuery)
	if err == nil {
		limit, err = readLimit(values, maxQuarantinePage)
	}
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	kept, err := r.journal.Quarantined(req.Context(), limit+1)
	if err != nil {
		r.answerUnreadable(w, err)
		return
	}
	found := quarantinePage{Items: []Quarantined{}}
	size := 0
	for _, u := range kept {
		if found.More = len(found.Items) == limit || size >= quarantineBytes; found.More {
			break
		}
		size += len(u.Body)
		u.Body = append([]byte{}, u.Body...) // of an empty one "", never null
		found.Items = append(found.Items, Quarantined(u))
	}
	r.answerJSON(w, found)
}

func (r *Relay) answerUnreadable(w http.ResponseWriter, err error) {
	r.logger.Error("the journal cannot be read", slog.String("error", err.Error()))
	refuse(w, http.StatusServiceUnavailable, "the journal cannot be read now: try again")
}
