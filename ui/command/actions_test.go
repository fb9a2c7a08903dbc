package command

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/simulator"
	"tillwatch/ui/dashboard/action"
)

// actionCase presses the key of an action as a person would and sees what it
// does. It leaves the board as it found it: on the first intent that awaits
// confirmation.
type actionCase struct {
	id action.ID
	do func(h *hand)
}

func actionCases() []actionCase {
	return slices.Concat(focusCases(), moveCases(), findCases(), viewCases(), intentCases(), attentionCases(),
		groupCases(), soughtCases(), handOnCases(), leaveCases())
}

func findCases() []actionCase {
	return []actionCase{
		{action.Filter, func(h *hand) {
			h.act(action.Filter)
			h.see(`/ ▏`)
			h.typed("product:03")
			h.see(`/ product:03▏\s+1 of \d+`)
			h.typed("\r")
			h.gone(`▏`)
			h.see(`▌Item 03`)
			h.typed("\x1b")
			h.see(`Item 05`)
			h.act(action.Top)
		}},
		{action.ClearFilter, func(h *hand) {
			h.act(action.Filter)
			h.typed("product:05\r")
			h.see(`▌Item 05`)
			h.gone(`Item 03`)
			h.act(action.ClearFilter)
			h.see(`Item 03`)
			h.act(action.Top)
		}},
		{action.Sort, func(h *hand) {
			h.act(action.Sort)
			h.see(`sorted by`)
			h.unsort()
		}},
		{action.ReverseSort, func(h *hand) {
			h.act(action.Sort)
			h.see(`sorted by`)
			order := regexp.MustCompile(`· by \w+ [↑↓]`)
			before := order.FindString(h.see(order.String()))
			h.act(action.ReverseSort)
			h.world.screen.waitUntil(h.T, "another order than "+before, func(text string) bool {
				now := order.FindString(text)
				return now != "" && now != before
			})
			h.unsort()
		}},
		{action.Jump, func(h *hand) { h.jumpTo(h.ids[2]); h.closeDetail(); h.act(action.Top) }},
		{action.Palette, func(h *hand) {
			h.act(action.Palette)
			h.see(`╭─.*(?i)action`)
			h.typed("next theme\r")
			h.see(`theme: `)
			h.gone(`╭─`)
		}},
	}
}

// unsort goes through the columns until the pane is in its default order.
func (h *hand) unsort() {
	h.Helper()
	for range 10 {
		text, _ := h.world.screen.text()
		said := regexp.MustCompile(`sorted by [^;]*|default order`).FindString(text)
		if said == "default order" {
			h.act(action.Top)
			return
		}
		h.act(action.Sort)
		h.world.screen.waitUntil(h.T, "another order than "+said, func(text string) bool { return !strings.Contains(text, said+";") })
	}
	h.Fatal("the pane never was in its default order")
}

func viewCases() []actionCase {
	toggle := func(id action.ID, name, title string) actionCase {
		return actionCase{id, func(h *hand) {
			h.act(id)
			h.see(name + ` hidden; `)
			h.gone(title + ` `)
			h.act(id)
			h.see(title + ` `)
			h.typed("1")
			h.see(`▌INTENTS`)
			h.act(action.Top)
		}}
	}
	return []actionCase{
		{action.Freeze, func(h *hand) { h.act(action.Freeze); h.see(`FROZEN at`); h.act(action.Freeze); h.gone(`FROZEN`) }},
		{action.Zoom, func(h *hand) {
			h.act(action.Zoom)
			h.gone(`SHIPMENTS \d`)
			h.act(action.Zoom)
			h.see(`SHIPMENTS \d`)
		}},
		toggle(action.ToggleIntents, "intents", "INTENTS"), toggle(action.ToggleShipments, "shipments", "SHIPMENTS"),
		toggle(action.ToggleQuota, "quota", "QUOTA"), toggle(action.ToggleEvents, "events", "EVENTS"),
		{action.Pulse, func(h *hand) {
			h.act(action.Pulse)
			h.see(`▌PULSE · last 60m`)
			h.gone(`SHIPMENTS \d`)
			h.act(action.Pulse)
			h.see(`SHIPMENTS \d`)
			h.see(`▌INTENTS`)
		}},
		{action.Usage, func(h *hand) {
			h.act(action.Usage)
			h.see(`SPENDERS`)
			h.gone(`SHIPMENTS \d`)
			h.act(action.Usage)
			h.see(`SHIPMENTS \d`)
			h.typed("1")
			h.see(`▌INTENTS`)
		}},
		{action.NextSpan, func(h *hand) {
			h.act(action.Usage)
			h.see(`last 60s`)
			h.act(action.NextSpan)
			h.see(`last 60m`)
			h.act(action.NextSpan)
			h.see(`last 24h`)
			h.act(action.NextSpan)
			h.see(`last 60s`)
			h.act(action.Usage)
			h.see(`SHIPMENTS \d`)
			h.typed("1")
			h.see(`▌INTENTS`)
		}},
		{action.NextChart, func(h *hand) {
			h.act(action.Usage)
			h.see(`reads a second`)
			h.act(action.NextChart)
			h.see(`mutations a second`)
			h.act(action.Usage)
			h.see(`SHIPMENTS \d`)
			h.typed("1")
			h.see(`▌INTENTS`)
		}},
		{action.NextTheme, func(h *hand) { h.act(action.NextTheme); h.see(`theme: `) }},
		{action.Redraw, func(h *hand) {
			fmt.Fprint(h.world.screen, "\x1b[3;80Hwritten by another program")
			h.see(`written by another program`)
			h.act(action.Redraw)
			h.gone(`written by another`)
		}},
		{action.ToggleMouse, func(h *hand) {
			h.act(action.ToggleMouse)
			h.see(`the mouse selects text now`)
			h.act(action.ToggleMouse)
			h.see(`the mouse controls the board`)
		}},
		{action.Reconnect, func(h *hand) {
			h.act(action.Reconnect)
			h.see(`the relay is connected`)
			h.world.killed()
			h.see(`relay ✕ lost`)
			h.act(action.Reconnect)
			h.see(`reconnecting to the relay`)
			h.world.restartRelay(h.T)
			h.see(`relay ● live`)
			h.act(action.Top)
		}},
		{action.Help, func(h *hand) { h.act(action.Help); h.see(`╭─ (Help|Keys)`); h.escape(`╭─ `) }},
	}
}

func intentCases() []actionCase {
	return []actionCase{
		{action.Open, func(h *hand) { h.act(action.Open); h.see(`▌INTENT  ci_`, `TIMELINE`); h.closeDetail() }},
		{action.Back, func(h *hand) {
			h.act(action.Open)
			h.see(`▌INTENT  ci_`)
			h.act(action.Back)
			h.gone(`INTENT  ci_`)
			h.see(`▌INTENTS`)
		}},
		{action.Refresh, func(h *hand) { h.act(action.Refresh); h.see(`reading ci_\w+ again`) }},
		{action.CopyID, func(h *hand) {
			h.act(action.CopyID)
			h.see(`asked the terminal to copy ci_`)
			h.world.screen.waitWritten(h.T, "\x1b]52;c;")
		}},
		{action.Reveal, func(h *hand) {
			h.act(action.Open)
			h.see(`▌INTENT  ci_`)
			h.act(action.Reveal)
			h.see(`PERSONAL DATA SHOWN`)
			h.act(action.Reveal)
			h.gone(`PERSONAL DATA SHOWN`)
			h.closeDetail()
		}},
		{action.Mark, func(h *hand) {
			h.act(action.Mark)
			h.see(`■ 1 marked`)
			h.act(action.Unmark)
			h.gone(`marked`)
			h.act(action.Top)
		}},
		{action.Unmark, func(h *hand) {
			h.act(action.Mark, action.Mark)
			h.see(`■ 2 marked`)
			h.act(action.Unmark)
			h.gone(`■ \d marked`)
			h.act(action.Top)
		}},
		{action.Confirm, func(h *hand) {
			h.act(action.Confirm)
			asked := h.see(`Confirm order`, `Item \d\d ×1`)
			item := regexp.MustCompile(`(Item \d\d) ×1`).FindStringSubmatch(asked)[1]
			h.agree(`✓ Confirmed`)
			h.escape(`╭─ `)
			h.see(item + `: confirmed`)
			h.see(`awaiting 17`) // it has left, with the cursor
			h.toAwaiting()
		}},
		{action.StopBatch, func(h *hand) {
			h.world.fail(h.T, `{"lateBy":3600,"after":true,"method":"POST","path":"/api/v1/"}`)
			h.act(action.Top, action.Mark, action.Down, action.Mark, action.Down, action.Mark)
			h.see(`■ 3 marked`)
			h.act(action.ConfirmMarked)
			h.see(`3 orders`)
			h.agree(`queued`)
			h.see(`▸ CONFIRMING`) // until it is written down, it would be taken back
			h.act(action.StopBatch)
			h.see(`stopped; waiting for the one already sent`)
			h.world.control(h.T, "DELETE faults", "")
			h.see(`batch: 1 accepted, 2 not sent: stopped, by hand`)
			h.see(`awaiting 16`) // the accepted one has left
			h.toAwaiting()
		}},
		{action.ConfirmMarked, func(h *hand) {
			h.act(action.Top, action.Mark, action.Down, action.Mark)
			h.see(`■ 2 marked`)
			h.act(action.ConfirmMarked)
			h.see(`Confirm several orders`, `2 orders`)
			h.agree(`batch: 2 accepted`)
			h.see(`awaiting 14`) // they have left
			h.toAwaiting()
		}},
	}
}

func leaveCases() []actionCase {
	return []actionCase{{action.Quit, func(h *hand) {
		h.act(action.Quit)
		select {
		case <-h.world.left:
		case <-time.After(patience):
			h.Fatal("the board is still there")
		}
	}}}
}

func TestEachActionDoesWhatItSays(t *testing.T) {
	t.Parallel()
	c := quiet()
	c.Limits = simulator.Limits{Reads: 1000, Mutations: 1000, PerDay: 1000, Agents: 1000}
	w := newWorld(t, c)
	w.settings.PollShare, w.settings.NoOpen = 1, true
	var ids []string
	for i, state := range slices.Concat(slices.Repeat([]api.IntentState{api.AwaitingConfirmation}, 18), []api.IntentState{api.PlacingOrder, api.Completed}) {
		order := simulator.Order{ProductURL: fmt.Sprintf("https://shop.example/products/item-%02d", i), State: state}
		if i < 2 {
			order.ReferenceID = sharedReference
		}
		id, err := w.service.CreateIntent(order)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	w.openBoard(t, 200, 60)
	w.screen.waitFor(t, `awaiting 18\b`, `relay ● live`, `▌Item`)
	w.screen.waitGone(t, `unread`)
	w.waitForPicture(t, "all of them read, also those below", func(c account.Changes) bool {
		return !slices.ContainsFunc(c.Intents, func(in *account.Intent) bool { return in.Certainty != account.Verified })
	})
	for _, c := range actionCases() {
		ok := t.Run(string(c.id), func(t *testing.T) {
			h := &hand{T: t, world: w, actions: action.Default(), ids: ids}
			c.do(h)
		})
		if !ok {
			text, _ := w.screen.text()
			t.Fatalf("left the board as\n%s", text)
		}
	}
}

func TestEveryActionIsTriedOnTheScreen(t *testing.T) {
	tried := map[action.ID]bool{
		"mark-all": true, // on the model (TestAllRowsOfAFilterAreMarkedByOneKey)
		"suspend":  true, // in a terminal of its own: it would stop these tests (TestADashboardThatWasSuspendedComesBackWhole)
	}
	for _, c := range actionCases() {
		if tried[c.id] {
			t.Errorf("%q has two cases", c.id)
		}
		tried[c.id] = true
	}
	for _, a := range action.Default().Actions() {
		if !tried[a.ID] {
			t.Errorf("the action %q has no case that presses its key and looks at the screen", a.ID)
		}
		delete(tried, a.ID)
	}
	for id := range tried {
		t.Errorf("there is no action %q", id)
	}
}
