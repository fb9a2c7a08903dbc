package pane

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"tillwatch/api/account"
	"tillwatch/ui/dashboard/paint"
	"tillwatch/ui/dashboard/sign"
	"tillwatch/ui/wording"
)

// The smallest pane with charts and spenders.
const (
	viewWidth  = 60
	viewHeight = 20
)

// Viewing reports whether the pane is large enough for charts and spenders.
func (p *Quota) Viewing() bool { return p.w >= viewWidth && p.h >= viewHeight }

// NextSpan shows the next span of time.
func (p *Quota) NextSpan() {
	spans := account.Spans()
	p.spending.span = spans[(slices.Index(spans, p.spending.span)+1)%len(spans)]
	p.stale = true
}

// NextChart begins the charts with the next one and returns its name.
func (p *Quota) NextChart() string {
	p.spending.chart = (p.spending.chart + 1) % len(charts)
	p.stale = true
	return charts[p.spending.chart]
}

// AllCharts reports whether there is room for all charts at once.
func (p *Quota) AllCharts() bool {
	columns, rows, _ := p.grid()
	return columns*rows >= len(charts)
}

func spanName(s account.Span) string {
	return [...]string{"last 60s", "last 60m", "last 24h"}[s]
}

// spenderLines returns the least height of the table of spenders, with its header.
func (p *Quota) spenderLines() int { return max(p.h/4, 6) }

// chartWidth is the least width of a chart beside others.
const chartWidth = 44

// grid divides the room below the gauges among charts, in columns and rows.
func (p *Quota) grid() (columns, rows, height int) {
	columns = min(max((p.w+chartGap)/(chartWidth+chartGap), 1), 3)
	room := p.h - p.head() - p.gauges() - p.air() - p.spenderLines()
	needed := (len(charts) + columns - 1) / columns
	least := leastPlot + aroundPlot
	rows = min(needed, room/(least+p.air()))
	if rows <= 0 {
		return columns, 0, 0
	}
	return columns, rows, min(room/rows-p.air(), mostPlot+aroundPlot)
}

const chartGap = 2

// air returns the blank lines between two parts of the view: none if room is scarce.
func (p *Quota) air() int {
	if p.h < 30 {
		return 0
	}
	return 1
}

// gauges returns the number of lines of the gauges.
func (p *Quota) gauges() int {
	lines := len(p.rows)
	if p.hasDay() {
		lines++
	}
	if p.hasAgents() {
		lines++
	}
	return lines
}

// view draws the charts and the spenders below the gauges.
func (p *Quota) view() {
	columns, rows, height := p.grid()
	shown := min(columns*rows, len(charts))
	for row := range rows {
		from := row * columns
		p.space()
		p.beside(from, min(from+columns, shown), height)
	}
	p.space()
	p.table()
}

func (p *Quota) space() {
	if p.air() > 0 {
		p.push(p.start())
	}
}

// beside draws charts side by side.
func (p *Quota) beside(from, to, height int) {
	n := to - from
	if n <= 0 {
		return
	}
	room := p.w - 1 - (n-1)*chartGap
	row := make([]*chart, n)
	for i := range row {
		at := from + i
		if !p.AllCharts() {
			at += p.spending.chart
		}
		row[i] = p.spending.chartAt(at%len(charts), (room+i)/n, height)
	}
	for y := range height {
		l := p.start().Space(1)
		for i, c := range row {
			if i > 0 {
				l.Space(chartGap)
			}
			c.row(l, y)
		}
		p.push(l)
	}
}

// spendColumns are the widths of the table's columns, with the blank before each; 0 hides
// one.
type spendColumns struct {
	name, requests, refused, errors, p50, p95 int
	classes                                   [len(quotaClasses)]int
}

// mostSpender is the greatest width of a name that leaves the figures of its row in sight.
const mostSpender = 60

func (p *Quota) spendColumns() spendColumns {
	c := spendColumns{requests: 10, refused: 9, p95: 9, classes: [...]int{7, 11, 8}}
	if p.w >= 90 {
		c.errors, c.p50 = 8, 9
	}
	c.name = p.w - 3 - c.requests - c.refused - c.errors - c.p50 - c.p95 - 7 - 11 - 8
	if more := max(c.name-mostSpender, 0) / 8; more > 0 { // all columns share what the name does not need
		for _, column := range []*int{&c.requests, &c.refused, &c.errors, &c.p50, &c.p95, &c.classes[0], &c.classes[1], &c.classes[2]} {
			*column += more
		}
		c.name -= 8 * more
	}
	return c
}

// table draws who spent how much of what.
func (p *Quota) table() {
	s := &p.spending
	s.count(p.endpoints())
	c := p.spendColumns()
	l := p.start().Space(1).Put(paint.Muted|paint.Bold, "SPENDERS")
	if s.filter != nil {
		shown, total := p.Matches()
		hits := wording.Count(shown) + " of " + wording.Count(total)
		l.Space(1).Fit(paint.Accent, "/ "+s.filter.Text, min(paint.Width("/ "+s.filter.Text), max(3+c.name-l.At()-len(hits)-3, 0)))
		l.Space(2).Put(paint.Text, hits)
	} else {
		l.Space(2).Put(paint.Muted, p.reach(c, 3+c.name-l.At()))
	}
	l.To(3+c.name).Right(paint.Muted, "requests", c.requests)
	for i, class := range quotaClasses {
		l.Right(paint.Muted, string(class), c.classes[i])
	}
	l.Right(paint.Muted, "refused", c.refused).Right(paint.Muted, "errors", c.errors).Right(paint.Muted, "p50", c.p50).Right(paint.Muted, "p95", c.p95)
	p.push(l)
	s.place(len(p.lines), p.h-len(p.lines))
	switch {
	case len(s.spenders) == 0:
		p.message(paint.Muted, "who spends is not known yet", "")
		return
	case len(s.rows) == 0:
		p.nothingMatches()
		return
	}
	for i := s.offset; i < min(s.offset+s.page, len(s.rows)); i++ {
		p.spender(&s.rows[i], c, p.focused && i == s.drawn)
	}
}

// reach says what the table's figures cover, as far as it fits into width: since when the
// counts of a proxy's callers are complete, and how many answers the percentiles cover: the
// newest ones, not those of the span.
func (p *Quota) reach(c spendColumns, width int) string {
	percentiles := "p95: last 256"
	if c.p50 > 0 {
		percentiles = "p50, p95: last 256 answers"
	}
	texts := []string{percentiles}
	if since := wording.ObservedSince(p.spending.since, p.spending.spenders, p.spending.span, p.look.Now, p.look.Location); since != "" {
		texts = []string{since + " · " + percentiles, since, strings.TrimPrefix(since, "observed ")}
	}
	if i := slices.IndexFunc(texts, func(text string) bool { return paint.Width(text) <= width }); i >= 0 {
		return texts[i]
	}
	return ""
}

// endpoints reports whether there is room for the endpoints of each spender.
func (p *Quota) endpoints() bool { return p.h >= 30 }

func (p *Quota) spender(r *spendRow, c spendColumns, under bool) {
	l := p.start()
	p.gutter(l, under, false, false)
	style := paint.Text
	if r.key.endpoint == "" {
		l.Put(r.sign.Style, r.sign.Glyph).Space(1).Fit(paint.Text, r.key.by, c.name)
	} else {
		style = paint.Muted
		l.Space(4).Fit(style, strings.Replace(r.key.endpoint, commonPath, "", 1), c.name-2)
	}
	grounds, unseen := account.Told, r.of == "" && r.kind != account.SpenderOthers
	if unseen {
		grounds = account.Inferred
	}
	requests := wording.Count(r.total.Requests)
	if unseen && r.total.Requests == 0 {
		requests, grounds = "–", account.Told
	}
	l.Right(style, sign.Grounds(grounds)+requests, c.requests)
	for i, n := range r.classes {
		l.Right(style, share(n, p.spending.sums[i]), c.classes[i])
	}
	p.failures(l, r.total.Refused, unseen, paint.Warning, c.refused)
	p.failures(l, r.total.Errors, unseen, paint.Bad, c.errors)
	l.Right(paint.Muted, r.percentile(r.p50), c.p50).Right(paint.Muted, r.percentile(r.p95), c.p95)
	p.push(l.Space(l.Left()).On(paint.Base))
}

// failures draws a count, highlighted unless it is 0; a dash for unseen requests, whose
// failures are unknown.
func (p *Quota) failures(l *paint.Line, n int, unseen bool, style paint.Style, w int) {
	switch {
	case unseen:
		l.Right(paint.Muted, "–", w)
	case n == 0:
		l.Right(paint.Muted, "0", w)
	default:
		l.Right(style, wording.Count(n), w)
	}
}

// share writes a part of a sum in percent; a dash for 0.
func share(n, sum int) string {
	switch {
	case sum == 0 || n == 0:
		return "–"
	case n*100 < sum:
		return "<1 %"
	}
	return strconv.Itoa((n*100+sum/2)/sum) + " %"
}

// percentile writes a latency: that of an endpoint, or a bound of those of several.
func (r *spendRow) percentile(d time.Duration) string {
	text := Latency(d)
	switch {
	case d <= 0:
		return ""
	case r.ends > 1 && !strings.HasPrefix(text, "<"):
		return "≤" + text
	}
	return text
}

// RowFilter returns a filter for the requests of the row under the cursor, or why there is
// none.
func (p *Quota) RowFilter() (filter, why string) {
	s := &p.spending
	if !p.Viewing() || len(s.rows) == 0 {
		return "", "nothing under the cursor"
	}
	switch r := &s.rows[s.cursor()]; {
	case r.kind == account.SpenderOthers:
		return "", "too many callers to tell apart: find one with / among the requests"
	case r.of == "":
		return "", "no proxy saw these requests: they are inferred from the service's headers"
	case r.key.endpoint == "" || r.key.endpoint == otherEndpoints:
		return "by=" + quoted(r.of), ""
	default:
		return "by=" + quoted(r.of) + " endpoint=" + quoted(r.key.endpoint), ""
	}
}
