package dashboard

import (
	"slices"
	"strings"
	"time"

	"tillwatch/api"
)

// stormRow is what a row of the board says: of what, its state and a note of how
// its confirm goes.
type stormRow struct{ name, state, note string }

func readRow(line string) stormRow {
	before, after, found := strings.Cut(line, orderPrefix)
	words := strings.Fields(before)
	if !found || len(words) < 2 || words[len(words)-1] == "/" {
		return stormRow{}
	}
	number, rest, _ := strings.Cut(after, " ")
	row := stormRow{name: orderPrefix + number, state: words[len(words)-1]}
	for _, note := range []string{"accepted", "overtaken", "refused", "not sent", "changed", "not confirm", "not taken", "unknown"} {
		if strings.Contains(rest, note) {
			row.note = note
		}
	}
	if !slices.Contains([]string{"retrieving", "awaiting", "placing", "completed", "failed"}, row.state) {
		return stormRow{} // of the dialog, or of the notice
	}
	return row
}

func (r stormRow) denies() bool {
	return slices.Contains([]string{"refused", "not sent", "changed", "not confirm", "not taken"}, r.note)
}

// judge holds what a row says against what is so.
func (s *storm) judge(o *stormOrder, row stormRow, line string) {
	s.looks++
	placed := ordersOf(s.t, s.service, string(o.id))
	if placed > 1 {
		s.t.Errorf("%s: %d orders", row.name, placed)
	}
	expired := time.Since(o.made) >= api.ConfirmWindow
	switch {
	case row.state == "failed" && !(o.doomed && placed == 1) && !expired:
		s.t.Errorf("a false failed, with %d orders: %s", placed, line)
	case (row.state == "completed" || row.state == "placing") && placed != 1:
		s.t.Errorf("a false %s, with %d orders: %s", row.state, placed, line)
	case row.state == "completed" && o.doomed:
		s.t.Errorf("completed, although its placing fails: %s", line)
	case (row.note == "accepted" || row.note == "overtaken") && placed != 1:
		s.t.Errorf("a false %s, with %d orders: %s", row.note, placed, line)
	}
}
