package api

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// isoForm matches the forms of ISO 8601, extended and basic, with the date by month, by week or by day of the year, and
// what writers make of them: a blank for the T or before the offset, UTC for Z, and the zone's name behind the offset.
var isoForm = regexp.MustCompile(`^(\d{4}|\+00\d{4})-?(?:(\d\d)-?(\d\d)|(\d{3})|W(\d\d)-?(\d))` +
	`(?:[Tt ](\d\d)(?::?(\d\d)(?::?(\d\d))?)?(?:[.,](\d+))?` +
	`(?: ?(?:[Zz]|UTC|GMT|([+−-])(\d\d)(?::?(\d\d)(?::?(\d\d))?)?)(?:\[[^\]]*\])*)?)?$`)

// ParseTime reads an ISO 8601 time as UTC, also if it names no offset; what cannot be read is zero.
func ParseTime(text string) time.Time {
	const longest = 96
	if len(text) > longest {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t = otherTime(isoForm.FindStringSubmatch(strings.TrimSpace(text)))
	}
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 { // JSON has no such years
		return time.Time{}
	}
	return t
}

// otherTime makes a time of the parts of [isoForm].
func otherTime(parts []string) time.Time {
	if parts == nil {
		return time.Time{}
	}
	n := func(i int) int {
		number, _ := strconv.Atoi(parts[i]) // of an absent part 0
		return number
	}
	day, exists := isoDay(n(1), n(2), n(3), n(4), n(5), n(6))
	unit := "s"
	if parts[8] == "" {
		unit = "h"
	} else if parts[9] == "" {
		unit = "m"
	}
	fraction, _ := time.ParseDuration("0." + parts[10] + unit) // the last unit's
	clock := hms(n(7), n(8), n(9)) + fraction
	offset := hms(n(12), n(13), n(14))
	if parts[11] != "+" {
		offset = -offset
	}
	// A leap second is the first of the next minute, and 24:00 the beginning of the next day.
	if !exists || clock > 24*time.Hour && n(7) > 23 || n(8) > 59 || n(9) > 60 || n(12) > 23 || n(13) > 59 || n(14) > 59 {
		return time.Time{}
	}
	return day.Add(clock - offset)
}

func hms(hours, minutes, seconds int) time.Duration {
	return time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second
}

// isoDay is the day of a month, else of a year, else of a week, and whether the year has it.
func isoDay(year, month, day, yearday, week, weekday int) (at time.Time, exists bool) {
	date := func(month, day int) time.Time { return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC) }
	switch {
	case week > 0: // the first week has the 4th of January
		at = date(1, 4+7*(week-1)+weekday-1-(int(date(1, 4).Weekday())+6)%7)
		y, w := at.ISOWeek()
		return at, y == year && w == week && 0 < weekday && weekday < 8
	case yearday > 0:
		at = date(1, yearday)
		return at, at.Year() == year
	}
	at = date(month, day)
	return at, at.Month() == time.Month(month) && at.Day() == day
}
