package simulator

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const maxPage = 100 // items, and the default

// pageQuery is the query of a list request. Items are listed newest first; a cursor holds the number of an item by
// creation, from 1.
type pageQuery struct {
	limit         int
	after, before int // 0: not given
}

const cursorPrefix = "n:"

func cursor(number int) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorPrefix + strconv.Itoa(number)))
}

func readCursor(text string) (number int, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return 0, false
	}
	digits, ok := strings.CutPrefix(string(raw), cursorPrefix)
	number, err = strconv.Atoi(digits)
	return number, ok && err == nil && number > 0
}

// page reads limit, after and before.
func (c *checker) page(r *request) pageQuery {
	values := r.URL.Query()
	q := pageQuery{limit: maxPage}
	if text := values.Get("limit"); values.Has("limit") {
		n, err := strconv.Atoi(text)
		switch {
		case err != nil:
			c.wrong("limit", "invalid integer number", text)
		case n < 1:
			c.wrong("limit", "min 1", text)
		case n > maxPage:
			c.wrong("limit", fmt.Sprintf("max %d", maxPage), text)
		}
		q.limit = n
	}
	for name, into := range map[string]*int{"after": &q.after, "before": &q.before} {
		if text := values.Get(name); text != "" {
			number, ok := readCursor(text)
			if !ok {
				c.wrong(name, "invalid cursor", text)
			}
			*into = number
		}
	}
	return q
}

// pageOf makes a page of a series, or refuses a wrong query. item returns the body of an item, and whether it belongs
// on the list.
func pageOf[T any](c checker, q pageQuery, all *series[T], item func(T) (body any, listed bool)) answer {
	if len(c) > 0 {
		return invalid(c)
	}
	newest, oldest := all.made(), all.gone+1
	if q.after > 0 { // only older items
		newest = min(newest, q.after-1)
	}
	if q.before > 0 { // only newer items
		oldest = max(oldest, min(newest, q.before)+1)
	}
	backward := q.before > 0 && q.after == 0 // the page next to the cursor
	data := []any{}
	var numbers []int
	more := false
	for i := range newest - oldest + 1 {
		number := newest - i
		if backward {
			number = oldest + i
		}
		body, listed := item(all.items[number-all.gone-1])
		if !listed {
			continue
		}
		if more = len(data) == q.limit; more {
			break
		}
		data, numbers = append(data, body), append(numbers, number)
	}
	info := pageInfoWire{HasNextPage: more, HasPreviousPage: q.after > 0}
	if backward {
		slices.Reverse(data)
		slices.Reverse(numbers)
		info.HasNextPage, info.HasPreviousPage = true, more
	}
	if len(data) > 0 {
		info.StartCursor, info.EndCursor = cursor(numbers[0]), cursor(numbers[len(numbers)-1])
	}
	return ok(pageWire{info, data})
}

// filter is a set of values to keep; empty keeps all.
type filter map[string]bool

func (f filter) allows(value string) bool { return len(f) == 0 || f[value] }

// filter reads a repeated parameter, whose values are from a closed set unless known is nil.
func (c *checker) filter(r *request, name string, known func(string) bool) filter {
	f := filter{}
	for i, value := range r.URL.Query()[name] {
		if known != nil && !known(value) {
			c.wrong(fmt.Sprintf("%s.$%d", name, i), noMatch, value)
		}
		f[value] = true
	}
	return f
}
