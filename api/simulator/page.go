package simulator

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
)

const maxPage = 100 // items, and the default

// pageQuery is what a list request asks for. Items are listed newest first; a
// cursor stands for the number of an item by creation.
type pageQuery struct {
	limit         int
	after, before uint64 // 0: not given
}

const cursorPrefix = "n:"

func cursor(number uint64) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorPrefix + strconv.FormatUint(number, 10)))
}

func readCursor(text string) (uint64, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return 0, false
	}
	digits, ok := strings.CutPrefix(string(raw), cursorPrefix)
	number, err := strconv.ParseUint(digits, 10, 64)
	return number, ok && err == nil && number > 0
}

// readPage reads limit, after and before.
func readPage(r *http.Request) (pageQuery, *answer) {
	values := r.URL.Query()
	q := pageQuery{limit: maxPage}
	wrong := map[string]fieldWire{}
	if text := values.Get("limit"); values.Has("limit") {
		n, err := strconv.Atoi(text)
		switch {
		case err != nil:
			wrong["limit"] = fieldWire{"invalid integer number", quoted(text)}
		case n < 1:
			wrong["limit"] = fieldWire{"min 1", quoted(text)}
		case n > maxPage:
			wrong["limit"] = fieldWire{fmt.Sprintf("max %d", maxPage), quoted(text)}
		}
		q.limit = n
	}
	for name, into := range map[string]*uint64{"after": &q.after, "before": &q.before} {
		text := values.Get(name)
		if text == "" {
			continue
		}
		number, ok := readCursor(text)
		if !ok {
			wrong[name] = fieldWire{"invalid cursor", quoted(text)}
		}
		*into = number
	}
	if len(wrong) > 0 {
		a := invalid(wrong)
		return q, &a
	}
	return q, nil
}

// pageOf makes a page of count items that are stored oldest first. The item at
// an index is on the list when item reports true.
func pageOf(q pageQuery, count int, number func(int) uint64, item func(int) (any, bool)) answer {
	newest, oldest := count-1, 0
	if q.after > 0 { // only what is older
		newest = sort.Search(count, func(i int) bool { return number(i) >= q.after }) - 1
	}
	if q.before > 0 { // only what is newer
		oldest = sort.Search(count, func(i int) bool { return number(i) > q.before })
	}
	data := []any{}
	var numbers []uint64
	more := false
	take := func(i int) bool {
		body, listed := item(i)
		if !listed {
			return true
		}
		if len(data) == q.limit {
			more = true
			return false
		}
		data, numbers = append(data, body), append(numbers, number(i))
		return true
	}
	backward := q.before > 0 && q.after == 0
	if backward { // the page that touches the cursor
		for i := oldest; i <= newest && take(i); i++ {
		}
		slices.Reverse(data)
		slices.Reverse(numbers)
	} else {
		for i := newest; i >= oldest && take(i); i-- {
		}
	}
	info := pageInfoWire{HasNextPage: more, HasPreviousPage: q.after > 0}
	if backward {
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

// filters reads two repeated parameters, the second from a closed set.
func filters(r *http.Request, anyName, closedName string, known func(string) bool) (ids, closed filter, refusal *answer) {
	values := r.URL.Query()
	ids, closed = filter{}, filter{}
	for _, id := range values[anyName] {
		ids[id] = true
	}
	wrong := map[string]fieldWire{}
	for i, value := range values[closedName] {
		if !known(value) {
			wrong[fmt.Sprintf("%s.$%d", closedName, i)] = fieldWire{"Could not match the union against any of the items.", quoted(value)}
		}
		closed[value] = true
	}
	if len(wrong) > 0 {
		a := invalid(wrong)
		return nil, nil, &a
	}
	return ids, closed, nil
}
