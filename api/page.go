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

// mostEmptyPages is how many pages without items are read in a row: each costs quota.
const mostEmptyPages = 10

// ErrIncomplete ends a list whose pages say that there is more, but not where.
var ErrIncomplete = errors.New("the list is incomplete")

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
	body     []byte
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

// walk reads a list page by page. It ends on a page that says it is the last, and
// where none says that another follows, on one without items or a new cursor. A list
// that ends against its page's own word is [ErrIncomplete]: it never runs in circles,
// and whoever asked for it takes it for all there is.
func walk(ctx context.Context, c *Client, first call) iter.Seq2[page, error] {
	return func(yield func(page, error) bool) {
		request, seen, empty := first, make(map[string]bool), 0
		for range maxPages {
			var p page
			err := c.do(ctx, request, func(body []byte, of Response) (err error) {
				p, err = decodePage(body)
				p.of, p.body = of, body
				return err
			})
			if err != nil {
				yield(page{}, err)
				return
			}
			if !yield(p, nil) {
				return
			}
			if empty++; len(p.items) > 0 {
				empty = 0
			}
			var more bool
			if request, more = following(first, p, seen); more && empty < mostEmptyPages {
				continue
			}
			if p.promised {
				yield(page{}, fmt.Errorf("GET %s: %w: %s", first.printable(), ErrIncomplete, p.brokenPromise(more)))
			}
			return
		}
		yield(page{}, fmt.Errorf("GET %s: %w: gave up after %d pages", first.printable(), ErrIncomplete, maxPages))
	}
}

// brokenPromise says why the page after p is not read, though p promises it.
func (p page) brokenPromise(followed bool) string {
	switch {
	case followed:
		return fmt.Sprintf("gave up after %d pages without items", mostEmptyPages)
	case p.end == "":
		return "a page says that another follows, but gives no cursor"
	}
	return "a page says that another follows, but gives a cursor that came before"
}

// following is the call of the page after p.
func following(first call, p page, seen map[string]bool) (call, bool) {
	if !p.next || len(p.items) == 0 && !p.promised || p.end == "" || seen[p.end] {
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
