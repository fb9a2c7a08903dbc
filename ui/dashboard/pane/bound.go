package pane

import (
	"strconv"
	"strings"
	"time"
)

// figure is a measure of a row.
type figure uint8

const (
	noFigure figure = iota
	amount          // in the currency's units
	age             // in seconds
	latency         // in milliseconds
	lateness        // in days
	count
)

// bound is a comparison in a filter: total>100.
type bound struct {
	figure figure
	op     string
	value  float64
	unit   string // the currency of an amount; "": any
}

// measured is a row with figures.
type measured interface {
	figure(figure, time.Time) (value float64, unit string, ok bool)
}

// holds reports whether the comparison is known to hold.
func (b *bound) holds(row measured, now time.Time) bool {
	least, unit, ok := row.figure(b.figure, now)
	if !ok || b.unit != "" && b.unit != unit {
		return false
	}
	most := least
	if in, ok := row.(*intentRow); ok && b.figure == age {
		most = in.oldest(now)
	}
	switch b.op {
	case ">":
		return least > b.value
	case ">=":
		return least >= b.value
	case "<":
		return most < b.value
	case "<=":
		return most <= b.value
	}
	return least == b.value && most == b.value
}

// operator splits the operator off the beginning of a text.
func operator(text string) (op, rest string) {
	for _, op := range []string{">=", "<=", ">", "<", "=", ":"} {
		if rest, ok := strings.CutPrefix(text, op); ok {
			return op, rest
		}
	}
	return "", text
}

func parseBound(name, op, text string, f figure) (*bound, string) {
	b := &bound{figure: f, op: op}
	ok := false
	switch f {
	case amount:
		b.value, b.unit, ok = parseAmount(text)
	case age:
		b.value, ok = parseDuration(text, time.Second)
	case latency:
		b.value, ok = parseDuration(text, time.Millisecond)
	case count:
		b.value, ok = parseNumber(text)
	case lateness:
		b.value, ok = parseNumber(strings.TrimSuffix(text, "d"))
	}
	if !ok {
		return nil, text + " after " + name + op + ": " + missing(f)
	}
	return b, ""
}

func missing(f figure) string {
	switch f {
	case amount:
		return "write an amount, such as 100, 99.50 or 100usd"
	case age:
		return "write a time with its unit, such as 90s, 10m, 2h or 3d"
	case latency:
		return "write a time with its unit, such as 200ms or 2s"
	case lateness:
		return "write a number of days, such as 2"
	}
	return "write a number"
}

func parseNumber(text string) (float64, bool) {
	for _, r := range text {
		if (r < '0' || r > '9') && r != '.' {
			return 0, false
		}
	}
	value, err := strconv.ParseFloat(text, 64)
	return value, err == nil
}

func parseAmount(text string) (value float64, unit string, ok bool) {
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	unit = strings.ToUpper(text[len(digits):])
	if unit != "" && len(unit) != 3 {
		return 0, "", false
	}
	value, ok = parseNumber(digits)
	return value, unit, ok
}

// parseDuration reads a duration such as 90s, 1h30m or 3d, and returns it in units.
func parseDuration(text string, unit time.Duration) (float64, bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		value, ok := parseNumber(days)
		return value * float64(24*time.Hour/unit), ok
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, false
	}
	return float64(d) / float64(unit), true
}
