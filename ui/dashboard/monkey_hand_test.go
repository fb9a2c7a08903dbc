package dashboard

import (
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"tillwatch/ui/dashboard/action"
)

// addHand adds what a person does at the keyboard and with the mouse. Each action
// of the table is a step of its own.
func (k *monkey) addHand() {
	for _, a := range k.m.cfg.Actions.Actions() {
		if len(a.Keys) > 0 {
			k.steps["key of "+string(a.ID)] = func() { k.press(rapid.SampledFrom(a.Keys).Draw(k.t, "key")) }
		}
	}
	k.steps["several keys"] = k.pressSeveral
	k.steps["any key"] = func() {
		k.press(rapid.SampledFrom([]string{"enter", "esc", "backspace", "ctrl+u", "ctrl+w", "delete", "tab", "shift+tab", "up", "down", "C", "y", "n", "pgdown", "é", "日", "f5", "ctrl+n", "alt+x"}).Draw(k.t, "key"))
	}
	k.steps["a filter"] = k.typeFilter
	k.steps["through the palette"] = k.choose
	k.steps["an id to go to"] = k.goTo
	k.steps["yes"] = k.agree
	k.steps["a click"] = func() { k.click(1) }
	k.steps["a double click"] = func() { k.click(2) }
	k.steps["the wheel"] = k.wheel
	k.steps["a drag"] = k.drag
	k.steps["a paste"] = func() { k.handle(tea.PasteMsg{Content: k.text("pasted")}) }
}

// keyPress is a key as the terminal library tells it, by the name that the table
// gives it.
func keyPress(name string) tea.KeyPressMsg {
	special := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "space": tea.KeySpace, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "insert": tea.KeyInsert,
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"f1": tea.KeyF1, "f2": tea.KeyF2, "f3": tea.KeyF3, "f4": tea.KeyF4, "f5": tea.KeyF5, "f10": tea.KeyF10, "f12": tea.KeyF12,
	}
	key, rest := tea.KeyPressMsg{}, name
	for text, mod := range map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "alt+": tea.ModAlt, "shift+": tea.ModShift} {
		if utf8.RuneCountInString(name) > 1 && strings.Contains(name, text) {
			key.Mod |= mod
			rest = strings.ReplaceAll(rest, text, "")
		}
	}
	if code, ok := special[rest]; ok {
		key.Code = code
	} else {
		key.Code, _ = utf8.DecodeRuneInString(rest)
	}
	switch {
	case key.Mod != 0:
	case rest == "space":
		key.Text = " "
	case special[rest] == 0:
		key.Text = rest
	}
	return key
}

func (k *monkey) press(name string) {
	key := keyPress(name)
	if got := key.String(); got != name {
		k.t.Fatalf("the key %q is pressed as %q", name, got)
	}
	ends := name == "q" && !k.m.dialog.open() && k.m.filter == nil && k.m.jump == nil && len(k.m.underway()) == 0
	k.quit = false
	k.handle(key)
	k.catchUp()
	if ends && !k.quit {
		k.t.Fatalf("q does not end it")
	}
}

func (k *monkey) pressSeveral() {
	var keys []string
	for _, a := range k.m.cfg.Actions.Actions() {
		keys = append(keys, a.Keys...)
	}
	for _, key := range rapid.SliceOfN(rapid.SampledFrom(keys), 2, 8).Draw(k.t, "keys") {
		k.press(key)
	}
}

// write types a text.
func (k *monkey) write(text string) {
	for _, r := range text {
		if r == ' ' {
			k.press("space")
		} else if r > ' ' {
			k.press(string(r))
		}
	}
}

func (k *monkey) key(id action.ID) string {
	if a, ok := k.m.cfg.Actions.Action(id); ok && len(a.Keys) > 0 {
		return a.Keys[0]
	}
	return "esc"
}

func (k *monkey) typeFilter() {
	k.press(k.key(action.Filter))
	terms := []string{"wool", "mug", "!a", "state:failed", "state:await", "age>10m", "age<1m", "total>10", "total<50usd", "quantity>1", "colour:red", `"wool so`, "merchant:acme", "type:ship", "404", "日", "!", "id:ci_"}
	k.write(strings.Join(rapid.SliceOfN(rapid.SampledFrom(terms), 1, 3).Draw(k.t, "terms"), " "))
	if end := rapid.SampledFrom([]string{"", "enter", "esc", "ctrl+u", "backspace"}).Draw(k.t, "and then"); end != "" {
		k.press(end)
	}
}

// choose performs an action by its name.
func (k *monkey) choose() {
	a := rapid.SampledFrom(k.m.cfg.Actions.Actions()).Draw(k.t, "action")
	k.press(k.key(action.Palette))
	k.write(a.Title[:rapid.IntRange(1, len(a.Title)).Draw(k.t, "letters")])
	for range rapid.IntRange(0, 2).Draw(k.t, "further down") {
		k.press("down")
	}
	k.press("enter")
}

func (k *monkey) goTo() {
	k.press(k.key(action.Jump))
	id := k.text("id")
	if k.account != nil && len(k.account.ids) > 0 && rapid.Bool().Draw(k.t, "known") {
		id = string(rapid.SampledFrom(k.account.ids).Draw(k.t, "intent"))
	}
	k.write(id)
	k.press("enter")
}

// agree does all that a confirm takes, if a dialog asks.
func (k *monkey) agree() {
	d := k.m.dialog.confirm
	if d == nil {
		k.press(k.key(action.Confirm))
		if d = k.m.dialog.confirm; d == nil {
			return
		}
	}
	k.pass(3 * time.Second)
	if id := string(d.Proposal().ID); k.m.cfg.Live && len(id) > 4 {
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

// text is what somebody types, pastes or names a product: anything.
func (k *monkey) text(label string) string {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"Mug", "Wool Socks", "Desk Lamp", "", "日本語の本", "e\u0301vil \x1b]0;x\x07", "👨‍👩‍👧 set", "🇺🇸 flag", "\u202eab", "한국어", "ﷺ", "ka\u0301mera\u200b",
			"a name that goes on and on, for longer than any column is wide, and then some more of it", "\x9b31m\r\nred", "https://acme.example/x?y=z", "ci_00000001",
		}),
		rapid.StringN(0, 12, 40),
	).Draw(k.t, label)
}

// leave ends it as people do: out of whatever is open, and with q; or at once.
func (k *monkey) leave() {
	k.quit = false
	for range 3 { // a prompt or a list of actions closes first, and a confirm under way is asked about
		if !k.quit {
			k.handle(keyPress("ctrl+c"))
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
			k.handle(keyPress("q"))
			k.catchUp()
		}
	}
	if !k.quit {
		k.t.Fatalf("q does not end it after all is closed with esc")
	}
}
