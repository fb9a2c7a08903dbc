package command

import "tillwatch/ui/dashboard/action"

// attentionCases are those of what a person has seen and puts off. What they do to
// an alert is held on the model.
func attentionCases() []actionCase {
	return []actionCase{
		{action.Acknowledge, func(h *hand) { h.act(action.Acknowledge); h.see(`no alert under the cursor`) }},
		{action.Mute, func(h *hand) { h.act(action.Mute); h.see(`no alert under the cursor`) }},
		{action.Digest, func(h *hand) { h.act(action.Digest); h.see(`╭─ What happened`, `new`); h.escape(`╭─ `) }},
	}
}
