package pane

import "tillwatch/ui/dashboard/paint"

// apart returns text for w cells, cut so that it can be told from others. If it does not fit, it
// leaves out the beginning that it shares with another one, as far as its end does not fit too;
// if a third one would then read the same, only what all share, and a part of the middle.
func apart(text string, others []string, w int) string {
	if paint.Width(text) <= w {
		return text
	}
	cut, begins := behind(text, others, w)
	for _, other := range others {
		if same, _ := behind(other, others, w); other != text && same == cut {
			return "…" + paint.Shorten(string([]rune(text)[begins:]), w-1)
		}
	}
	return cut
}

// behind returns text without the beginning that it shares with the most similar of others, and
// how many runes of it all share.
func behind(text string, others []string, w int) (cut string, all int) {
	runes, most := []rune(text), 0
	all = len(runes)
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
		most, all = max(most, n), min(all, n)
	}
	from := min(most, len(runes)-(w-1))
	if from <= 0 {
		return text, all
	}
	return "…" + string(runes[from:]), all
}
