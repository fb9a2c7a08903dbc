package pane

import "tillwatch/ui/dashboard/paint"

// apart returns text for w cells. If it does not fit, it leaves out the beginning that it
// shares with another one of others, as far as its end does not fit too.
func apart(text string, others []string, w int) string {
	if paint.Width(text) <= w {
		return text
	}
	runes, shared := []rune(text), 0
	for _, other := range others {
		if other == text {
			continue
		}
		n := 0
		for i, r := range []rune(other) {
			if i == len(runes) || runes[i] != r {
				break
			}
			n++
		}
		shared = max(shared, n)
	}
	cut := min(shared, len(runes)-(w-1))
	if cut <= 0 {
		return text
	}
	return "…" + string(runes[cut:])
}
