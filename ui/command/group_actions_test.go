package command

import "tillwatch/ui/dashboard/action"

// groupCases are those of several intents at once: what is alike, an order,
// what failed.
func groupCases() []actionCase {
	return []actionCase{
		{action.FilterAlike, func(h *hand) {
			h.act(action.FilterAlike)
			h.see(`merchant="shop\.example": \d+ intents, 0 failed; f again shows all`)
			h.see(`INTENTS .*/ merchant="shop\.example"`)
			h.act(action.FilterAlike)
			h.see(`all intents are shown again`)
			h.gone(`/ merchant=`)
			h.act(action.Top)
		}},
		{action.GroupOrders, func(h *hand) {
			h.act(action.GroupOrders)
			h.see(`grouped by order; O shows`)
			h.see(sharedReference + ` (\(2\)|· 2 items)`)
			h.act(action.GroupOrders)
			h.see(`intents one by one`)
			h.gone(sharedReference + ` `)
			h.act(action.Top)
		}},
		{action.Failures, func(h *hand) {
			h.act(action.Failures)
			h.see(`▌FAILURES \d`)
			h.gone(`SHIPMENTS \d`)
			h.act(action.Failures)
			h.see(`SHIPMENTS \d`)
			h.typed("1")
			h.see(`▌INTENTS`)
		}},
	}
}

// sharedReference is that of an order of two intents on the board.
const sharedReference = "the-pair"

// soughtCases are those of a text that is looked for in the detail.
func soughtCases() []actionCase {
	find := func(h *hand) {
		h.act(action.Open)
		h.see(`▌INTENT  ci_`)
		h.act(action.FindText)
		h.see(`find ▏`)
		h.typed("shop.example")
		h.see(`find shop\.example▏\s+1 of \d`)
		h.typed("\r")
		h.see(`/ shop\.example  1 of \d`)
	}
	leave := func(h *hand) {
		h.escape(`/ shop\.example`)
		h.closeDetail()
		h.act(action.Top)
	}
	return []actionCase{
		{action.FindText, func(h *hand) { find(h); leave(h) }},
		{action.FindNext, func(h *hand) {
			find(h)
			h.act(action.FindNext)
			h.see(`/ shop\.example  2 of \d`)
			leave(h)
		}},
		{action.FindPrevious, func(h *hand) {
			find(h)
			h.act(action.FindPrevious)
			h.see(`past the top: (\d) of \d from the end`)
			leave(h)
		}},
	}
}
