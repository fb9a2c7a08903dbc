package pane

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/layout"
)

func TestWhatIsNotReadIsUnknownAndNotZero(t *testing.T) {
	refused := account.Summary{
		API: account.APIStatus{State: account.APIUnauthorized}, Day: account.DayCount{Limit: 50}, Agents: account.AgentCount{Limit: 10},
	}
	whole := account.Summary{
		List: account.ListStatus{State: account.ListWhole}, ShipmentList: account.ListStatus{State: account.ListWhole},
		Day: account.DayCount{Limit: 50}, Agents: account.AgentCount{Limit: 10},
	}
	forbidden := whole
	forbidden.ShipmentList.State = account.ListForbidden
	for _, size := range [][2]int{{200, 20}, {120, 20}, {70, 12}} {
		intents, shipments, limits := NewIntents(look(), 45*time.Minute), NewShipments(look()), NewQuota(look())
		drawn := func(s account.Summary) string {
			var out strings.Builder
			for _, p := range []interface {
				SetPlace(Place)
				Apply(*account.Changes, bool)
				Invalidate()
				Lines() []string
			}{intents, shipments, limits} {
				p.SetPlace(Place{W: size[0], H: size[1]})
				p.Apply(&account.Changes{Summary: s}, true)
				p.Invalidate()
				out.WriteString(text(p.Lines()) + "\n")
			}
			return out.String()
		}
		zero := regexp.MustCompile(`(INTENTS|SHIPMENTS|[◌◆▸✓✕]( [a-z]+)?) 0|0 (busy|made)|≤`)
		if got := drawn(refused); zero.MatchString(got) || !strings.Contains(got, "INTENTS –") || !strings.Contains(got, "SHIPMENTS –") || strings.Count(got, "not read yet") != 2 {
			t.Errorf("%v: a key that is refused knows of none:\n%s", size, got)
		}
		if got := drawn(whole); !strings.Contains(got, "INTENTS 0") || !strings.Contains(got, "SHIPMENTS 0") || strings.Contains(got, "not read yet") {
			t.Errorf("%v: nothing is there, and that is known:\n%s", size, got)
		}
		if got := drawn(forbidden); !strings.Contains(got, "INTENTS 0") || !strings.Contains(got, "SHIPMENTS –") || strings.Count(got, "the API key may not read shipments") != 1 {
			t.Errorf("%v: the key may not read shipments:\n%s", size, got)
		}
	}
}

func TestHeadsOfLanesLeaveOutWhatDoesNotFit(t *testing.T) {
	p := NewIntents(look(), 45*time.Minute)
	p.SetPlace(Place{W: layout.LanesFrom, H: 12})
	all := make([]*account.Intent, 12345)
	for i := range all {
		all[i] = intentOf("ci_"+strconv.Itoa(i), api.Completed, 0)
	}
	for _, state := range api.IntentStates() {
		all = append(all, intentOf("ci_"+string(state), state, 0))
	}
	p.Apply(&account.Changes{Intents: all}, true)
	p.SetFilter(ParseFilter("merchant:acme", p.Fields()))
	head := strings.Split(text(p.Lines()), "\n")[1]
	if !strings.Contains(head, "✓ completed 12,346  ") || !strings.Contains(head, "✕ failed 1") {
		t.Errorf("the heads run into each other: %q", head)
	}
}
