package command

import "tillwatch/ui/dashboard/action"

func focusCases() []actionCase {
	from := func(key, title string, id action.ID, want string) actionCase {
		return actionCase{id, func(h *hand) {
			h.typed(key)
			h.see(title)
			h.act(id)
			h.see(want)
			h.typed("4")
			h.see(`▌EVENTS \d`)
			h.typed("1")
			h.see(`▌INTENTS`)
		}}
	}
	return []actionCase{
		from("1", `▌INTENTS`, action.FocusNext, `▌SHIPMENTS`),
		from("2", `▌SHIPMENTS`, action.FocusPrevious, `▌INTENTS`),
		from("3", `▌QUOTA`, action.FocusPane1, `▌INTENTS`),
		from("1", `▌INTENTS`, action.FocusPane2, `▌SHIPMENTS`),
		from("1", `▌INTENTS`, action.FocusPane3, `▌QUOTA`),
		from("1", `▌INTENTS`, action.FocusPane4, `▌EVENTS \d`),
		from("1", `▌INTENTS`, action.FocusPane5, `▌EVENTS  REQUESTS \d`),
		from("1", `▌INTENTS`, action.FocusPane6, `▌EVENTS  REQUESTS  ALERTS`),
		{action.FocusDetail, func(h *hand) {
			h.act(action.Open)
			h.see(`▌INTENT  ci_`)
			h.typed("1")
			h.see(`▌INTENTS`)
			h.act(action.FocusDetail)
			h.see(`▌INTENT  ci_`)
			h.closeDetail()
		}},
	}
}

func moveCases() []actionCase {
	there := func(id, back action.ID) actionCase {
		return actionCase{id, func(h *hand) {
			first := h.cursor()
			h.moves(id)
			if got := h.moves(back); got != first {
				h.Errorf("%s leads from %s to %s, not back", back, first, got)
			}
		}}
	}
	first := func(id, there action.ID) actionCase {
		return actionCase{id, func(h *hand) {
			top := h.cursor()
			h.moves(there)
			if got := h.moves(id); got != top {
				h.Errorf("%s leads to %s, not to the first, %s", id, got, top)
			}
		}}
	}
	return []actionCase{
		there(action.Down, action.Up), first(action.Up, action.Down),
		there(action.Right, action.Left), first(action.Left, action.Right),
		there(action.Bottom, action.Top), first(action.Top, action.Bottom),
		there(action.PageDown, action.PageUp), first(action.PageUp, action.PageDown),
	}
}
