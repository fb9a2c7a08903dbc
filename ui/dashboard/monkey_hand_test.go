package dashboard

import (
	"maps"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/ui/dashboard/action"
	"tillwatch/ui/dashboard/action/actiontest"
	"tillwatch/ui/dashboard/job"
)

// addHand adds what a person does at the keyboard and with the mouse.
func (k *monkey) addHand() {
	for name, move := range k.hand.Moves() {
		k.steps[name] = func() {
			for _, key := range move(k.t) {
				k.press(key)
			}
		}
	}
	k.steps["a click"] = func() { k.click(1) }
	k.steps["a double click"] = func() { k.click(2) }
	k.steps["the wheel"] = k.wheel
	k.steps["a drag"] = k.drag
	k.steps["a paste"] = func() { k.handle(tea.PasteMsg{Content: k.text("pasted")}) }
	k.steps["a paste that does not end"] = func() { k.handle(job.UnendedPasteMsg{}) }
	k.steps["keys that come together"] = k.pressTogether
}

func (k *monkey) press(name string) {
	ends := name == "q" && !k.m.dialog.open() && k.m.prompt() == nil && !k.m.batch.confirming()
	k.quit = false
	k.handle(actiontest.Press(name))
	k.catchUp()
	if ends && !k.quit {
		k.t.Fatalf("q does not end it")
	}
}

// pressTogether presses the keys of a move before the first of them is handled.
func (k *monkey) pressTogether() {
	moves := k.hand.Moves()
	var keys job.KeysMsg
	for _, key := range moves[rapid.SampledFrom(slices.Sorted(maps.Keys(moves))).Draw(k.t, "move")](k.t) {
		keys = append(keys, actiontest.Press(key))
	}
	k.quit = false
	k.handle(keys)
	k.catchUp()
}

// write types a text.
func (k *monkey) write(text string) {
	for _, key := range actiontest.Typed(text) {
		k.press(key)
	}
}

// buy confirms what awaits it, or several that do.
func (k *monkey) buy() {
	for range rapid.IntRange(1, 4).Draw(k.t, "that await it") {
		in := k.anIntent(k.t, k.newID(), api.AwaitingConfirmation)
		in.CreatedAt = time.Now().Add(-time.Minute)
		in.Offer = &api.Offer{ProductTitle: "Mug", Cost: api.Cost{Total: &api.Money{Currency: "USD", Subunits: 1290}}}
		k.account.store.ApplyRead(in, time.Now(), account.ByRead)
	}
	k.pass(time.Second)
	for _, key := range []string{"esc", "esc", "esc", k.hand.Key(action.FocusPane1), k.hand.Key(action.Top)} {
		k.press(key)
	}
	if rapid.Bool().Draw(k.t, "several") {
		for range rapid.IntRange(1, 4).Draw(k.t, "marks") {
			k.press(k.hand.Key(action.Mark))
			k.press(k.hand.Key(action.Down))
		}
		k.press(k.hand.Key(action.ConfirmMarked))
	}
	k.agree()
}

// agree does all that a confirm takes, if a dialog asks.
func (k *monkey) agree() {
	if k.m.dialog.confirm() == nil {
		k.press(k.hand.Key(action.Confirm))
	}
	d := k.m.dialog.confirm()
	if d == nil {
		return
	}
	k.pass(3 * time.Second)
	if d.Batch() != nil {
		k.press("pgdown")
		k.pass(2 * time.Second)
	}
	if id := string(d.Proposal().ID); k.m.picture.environment().Live && len(id) > 4 {
		k.press("tab")
		k.write(id[len(id)-4:])
		k.press("tab")
		k.pass(2 * time.Second)
		k.press("enter")
	} else {
		k.press("C")
	}
}

// place is a cell of the screen, or just beside it.
func (k *monkey) place(label string) (x, y int) {
	return rapid.IntRange(0, k.m.width).Draw(k.t, label+" x"), rapid.IntRange(0, k.m.height).Draw(k.t, label+" y")
}

func (k *monkey) click(times int) {
	x, y := k.place("at")
	button := rapid.SampledFrom([]tea.MouseButton{tea.MouseLeft, tea.MouseLeft, tea.MouseLeft, tea.MouseRight, tea.MouseMiddle}).Draw(k.t, "button")
	k.quit = false
	for range times {
		k.handle(tea.MouseClickMsg{X: x, Y: y, Button: button})
		k.handle(tea.MouseReleaseMsg{X: x, Y: y, Button: button})
	}
}

func (k *monkey) wheel() {
	x, y := k.place("at")
	button := rapid.SampledFrom([]tea.MouseButton{tea.MouseWheelUp, tea.MouseWheelDown, tea.MouseWheelLeft}).Draw(k.t, "button")
	for range rapid.IntRange(1, 30).Draw(k.t, "notches") {
		k.handle(tea.MouseWheelMsg{X: x, Y: y, Button: button})
	}
}

func (k *monkey) drag() {
	x, y := k.place("from")
	toX, toY := k.place("to")
	k.handle(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	k.handle(tea.MouseMotionMsg{X: toX, Y: toY, Button: tea.MouseLeft})
	k.handle(tea.MouseReleaseMsg{X: toX, Y: toY, Button: tea.MouseLeft})
	k.handle(tea.MouseMotionMsg{X: x, Y: y})
}

func (k *monkey) text(label string) string { return actiontest.Text().Draw(k.t, label) }

// leave ends it as people do: out of whatever is open, and with q; or at once.
func (k *monkey) leave() {
	k.quit = false
	for range 3 { // a prompt or a list of actions closes first, and a confirm under way is asked about
		if !k.quit {
			k.handle(actiontest.Press("ctrl+c"))
			k.catchUp()
		}
	}
	if !k.quit {
		k.t.Fatalf("ctrl+c does not end it")
	}
	k.quit = false
	for range 8 {
		k.press("esc")
	}
	k.quit = false
	for range 2 {
		if !k.quit {
			k.handle(actiontest.Press("q"))
			k.catchUp()
		}
	}
	if !k.quit {
		k.t.Fatalf("q does not end it after all is closed with esc")
	}
}
