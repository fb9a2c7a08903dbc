package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"sync/atomic"

	"github.com/tidwall/gjson"
)

// maxPages ends a list whose cursors never come to an end.
const maxPages = 10_000

// ItemError is an item of a list that cannot be read. The list goes on after it;
// every other error ends a list.
type ItemError struct {
	Path  string // of the list, without the values of its query
	Index int    // within its page, from 0
	Err   error  // the cause
}

// Error says which item it was and what was wrong with it.
func (e *ItemError) Error() string {
	return fmt.Sprintf("GET %s: item %d of the page is unreadable: %v", e.Path, e.Index, e.Err)
}

// Unwrap returns the cause.
func (e *ItemError) Unwrap() error { return e.Err }

// page is one page of a list: the envelope {pageInfo, data} or a bare array.
type page struct {
	items    []json.RawMessage
	end      string // the cursor of the next page; "" when absent
	next     bool   // whether one follows; true when the page does not say
	promised bool   // the page itself says that one follows
	of       Response
}

func decodePage(body []byte) (page, error) {
	p := page{next: true}
	if !json.Valid(body) {
		return p, fmt.Errorf("decode page: %w", syntaxError(body))
	}
	v := gjson.ParseBytes(body)
	data := v
	if v.IsObject() {
		f := fieldsOf(v)
		data = f["data"]
		info := fieldsOf(f["pageInfo"])
		next := info["hasNextPage"].Type
		p.next, p.promised, p.end = next != gjson.False, next == gjson.True, info["endCursor"].String()
	}
	if !data.IsArray() {
		return p, errors.New("decode page: neither an array nor an object with an array in data")
	}
	eachItem(data, func(v gjson.Result) {
		if v.Type != gjson.Null {
			p.items = append(p.items, json.RawMessage(v.Raw))
		}
	})
	return p, nil
}

// listed walks a list item by item. An item that cannot be read is yielded as an
// [ItemError], and the list goes on; after any other error it ends.
func listed[T any](ctx context.Context, c *Client, first call, decode decoder[T]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for p, err := range walk(ctx, c, first) {
			if err != nil {
				yield(none, err)
				return
			}
			for i, item := range p.items {
				value, err := decode(item, p.of)
				if err != nil {
					err = &ItemError{Path: first.printable(), Index: i, Err: err}
				}
				if !yield(value, err) {
					return
				}
			}
		}
	}
}

// walk reads a list page by page. It ends on a page without items, on a page
// that says it is the last, and on a cursor that is missing or was seen before:
// a list can end early, never run in circles. An error ends it too. Of a list that
// was probed for, an early end against the page's own word is an error: whoever
// asked for it takes it for all there is.
func walk(ctx context.Context, c *Client, first call) iter.Seq2[page, error] {
	return func(yield func(page, error) bool) {
		request := first
		seen := make(map[string]bool)
		for range maxPages {
			var p page
			err := c.do(ctx, request, func(body []byte, of Response) (err error) {
				p, err = decodePage(body)
				p.of = of
				return err
			})
			if err != nil {
				yield(page{}, err)
				return
			}
			if !yield(p, nil) {
				return
			}
			var more bool
			if request, more = following(first, p, seen); !more {
				if first.probe && p.promised && len(p.items) > 0 {
					yield(page{}, fmt.Errorf("GET %s: a page says that another follows, but not which", first.printable()))
				}
				return
			}
		}
		yield(page{}, fmt.Errorf("GET %s: gave up after %d pages", first.printable(), maxPages))
	}
}

// following is the call of the page after p.
func following(first call, p page, seen map[string]bool) (call, bool) {
	if !p.next || len(p.items) == 0 || p.end == "" || seen[p.end] {
		return call{}, false
	}
	seen[p.end] = true
	request := first
	request.probe = false // its first page came, so the list is served
	request.query = maps.Clone(first.query)
	if request.query == nil {
		request.query = make(map[string][]string)
	}
	request.query.Set("after", p.end)
	return request, true
}

// probed asks for a list that may not exist, once: a refusal is remembered.
func probed[T any](ctx context.Context, c *Client, refused *atomic.Bool, path string, decode decoder[T]) iter.Seq2[T, error] {
	request := get(path, nil)
	request.probe = true
	return func(yield func(T, error) bool) {
		var none T
		if refused.Load() {
			yield(none, fmt.Errorf("%s %s: %w", request.method, request.path, ErrNotServed))
			return
		}
		began := false
		for value, err := range listed(ctx, c, request, decode) {
			if answer := (*Error)(nil); !began && errors.As(err, &answer) && request.refusedProbe(answer.Status) {
				refused.Store(true)
				err = fmt.Errorf("%w: %w", ErrNotServed, err)
			}
			began = true
			if !yield(value, err) {
				return
			}
		}
	}
}

func notServed(status int) bool {
	switch status {
	case http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	}
	return false
}
