package pane

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/quota"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/dashboard/table"
	"tillwatch/ui/wording"
)

// keptRequests bounds the rows of the pane.
const keptRequests = 1000

// Requests is the tail of the account's known requests: who sent each, the path, the
// answer, the bucket that it charged and, for tillwatch's own, how long it waited for
// quota.
type Requests struct {
	listing[*requestRow]
	failed int // number of failed ones
}

type requestRow struct {
	api.Exchange
	searchText
	key     api.ID
	at      string
	changed time.Time
}

// failed reports whether a request failed. For requests of others only the status is known.
func (r *requestRow) failed() bool {
	return r.Err != nil || r.By != "" && (r.Status == 0 || r.Status >= http.StatusBadRequest)
}

func (r *requestRow) figure(f figure, now time.Time) (float64, string, bool) {
	switch f {
	case age:
		return now.Sub(r.Sent).Seconds(), "", true
	case latency:
		return float64(r.Latency) / float64(time.Millisecond), "", true
	case count:
		return float64(r.Attempt), "", true
	}
	return 0, "", false
}

// NewRequests returns the pane.
func NewRequests(look *Look) *Requests {
	p := &Requests{listing: newListing(look, table.Config[*requestRow]{
		Key:   func(r *requestRow) string { return string(r.key) },
		Home:  table.Bottom,
		Limit: keptRequests,
	}, func(r *requestRow) Subject { return Subject{Kind: OfRequest, ID: r.key} }, requestOrders())}
	p.fields = []Field{
		asWhole(inColumn("by", inPlace)), inColumn("status", inState), asWhole(inColumn("endpoint", inName)), inColumn("path", inName), inColumn("id", inID),
		inColumn("method", inMore), inColumn("class", inMore),
		measures("latency", latency), measures("attempt", count), measures("age", age),
	}
	return p
}

func compareRequests(a, b *requestRow) int { return a.Sent.Compare(b.Sent) }

// requestKey returns an identity for a request, which has no id.
func requestKey(e *api.Exchange) api.ID {
	return api.ScrubID(strconv.FormatInt(e.Sent.UnixNano(), 36) + " " + strconv.Itoa(e.Attempt) + " " + e.Method + " " + e.Path + " " + string(e.By))
}

// Apply applies changes.
func (p *Requests) Apply(c *account.Changes, first bool) {
	var rows []*requestRow
	for _, e := range c.Requests {
		key := requestKey(&e)
		if _, ok := p.list.Get(string(key)); ok {
			continue
		}
		row := &requestRow{Exchange: e, key: key, at: e.Sent.In(p.look.Location).Format("15:04:05.0")}
		row.Path = string(api.Scrub(e.Path))
		m := sign.Answer(e.Status)
		endpoint, _ := quota.EndpointOf(e.Method, row.Path, quota.DefaultLookupPath)
		row.searchText = newSearchText(m.Word, edged(spender(&e)), edged(row.Path, e.Method+" "+endpoint), string(e.RequestID),
			e.Method+" "+string(e.Class)+" "+wording.Because(e.Err))
		if !first {
			row.changed = p.look.Now
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return
	}
	p.list.Upsert(rows...)
	p.failed = 0
	for _, row := range p.list.All() {
		if row.failed() {
			p.failed++
		}
	}
	p.stale = true
}

// Find returns the kept request with an id.
func (p *Requests) Find(id api.ID) (*api.Exchange, bool) {
	row, ok := p.list.Get(string(id))
	if !ok {
		return nil, false
	}
	return &row.Exchange, true
}

// Holds reports whether a filter finds any of the kept requests.
func (p *Requests) Holds(f *Filter) bool {
	return slices.ContainsFunc(p.list.All(), func(r *requestRow) bool { return matchRow(r, f) })
}

// Lines draws the pane.
func (p *Requests) Lines() []string {
	return p.drawn(p.top, func() { p.unlessWaiting("no requests yet") }, p.draw)
}

func (p *Requests) top() (l *paint.Line, right paint.Spans) {
	l = p.tabTitle("REQUESTS", p.list.Total())
	p.sorted(l, p.order)
	p.held(l, "")
	if p.failed > 0 {
		right = paint.Spans{{Text: " " + wording.Count(p.failed) + " failed", Style: paint.Warning}}
	}
	return l, right
}

// ownName is the name of tillwatch among the senders.
const ownName = "tillwatch"

// spender returns who sent a request; for tillwatch's own, also the purpose.
func spender(e *api.Exchange) string {
	if e.By != "" {
		return string(e.By)
	}
	return ownName + " " + wording.Purpose(e.Priority)
}

func (p *Requests) draw(l *paint.Line, row *requestRow, under bool) {
	p.gutter(l, under, p.look.Opened == Subject{Kind: OfRequest, ID: row.key}, p.list.Pinned() && p.glows(row.changed))
	c := p.columns()
	m := sign.Answer(row.Status)
	word := m.Word
	if row.Status == 0 && c.answer < len(word) {
		word = "–"
	}
	l.Put(paint.Muted, row.at[:c.at]).Space(2)
	l.Put(m.Style, m.Glyph).Space(1).Fit(paint.Text, word, c.answer)
	if !under {
		l.On(paint.Base)
	}
	if c.method > 0 || row.Method != http.MethodGet {
		l.Space(1).Fit(paint.Muted, row.Method, max(c.method, len(row.Method)))
	}
	right := 8 + c.by + c.class + c.attempt + c.waited
	l.Space(1)
	putPath(l, strings.TrimPrefix(row.Path, commonPath), l.Left()-right-1)
	p.figures(l, row, c)
}

// putPath draws a path in w cells. Without room for all, what is done to one thing, such as
// /confirm, takes precedence over the end of its id.
func putPath(l *paint.Line, path string, w int) {
	end := strings.LastIndexByte(path, '/')
	if does := paint.Width(path[max(end, 0):]); paint.Width(path) <= w || end == strings.IndexByte(path, '/') || does > w*2/3 {
		end = len(path)
	}
	l.Fit(paint.Text, path[:end], w-paint.Width(path[end:])).Put(paint.Text, path[end:])
}

// commonPath is the beginning of every path.
const commonPath = "/api/v1/"

// roomyRequests is the least width for attempts and pauses.
const roomyRequests = 150

// requestColumns are the widths of the columns, with the blank before each; 0 hides one.
type requestColumns struct{ at, answer, method, by, class, attempt, waited int }

func (p *Requests) columns() (c requestColumns) {
	switch {
	case p.w < 50: // the method is shown only if it is not GET
		c.at, c.answer = len("15:04"), 3
	case p.w < 100:
		c.at, c.answer, c.method = len("15:04:05"), 3, 5
	default:
		c.at, c.answer, c.method = len("15:04:05.0"), 9, 5
	}
	if p.w >= 100 {
		c.class = 11
	}
	switch {
	case p.w >= 110:
		c.by = 2 + len("tillwatch reconcile")
	case p.w >= 76:
		c.by = 2 + len(ownName)
	}
	if p.w >= roomyRequests {
		c.attempt, c.waited = 11, 15
	}
	return c
}

func (p *Requests) figures(l *paint.Line, row *requestRow, c requestColumns) {
	l.Right(paint.Text, Latency(row.Latency), 8)
	by, style := spender(&row.Exchange), paint.Text
	if row.By == "" {
		style = paint.Muted
		if c.by-2 < len(by) {
			by = ownName
		}
	}
	l.Cell(2, style, by, c.by).Cell(2, paint.Muted, string(row.Class), c.class)
	attempt := ""
	if row.Attempt > 1 {
		attempt = "attempt " + strconv.Itoa(row.Attempt)
	}
	l.Cell(1, paint.Warning, attempt, c.attempt)
	if c.waited > 0 {
		waited := ""
		if row.Waited >= time.Millisecond {
			waited = "waited " + Latency(row.Waited)
		}
		l.Space(1).Right(paint.Muted, waited, l.Left())
	}
}

// Latency writes the duration of a request in at most five cells: 41ms, 5.2s, 12s; a dash for none.
func Latency(d time.Duration) string {
	if d <= 0 {
		return "–"
	}
	return wording.Took(d)
}
