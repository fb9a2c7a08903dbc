package dialog

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Verb is what is done by its name and, mostly, words behind it: "theme nord".
type Verb struct {
	Name    string
	Takes   string          // what stands behind the name, for the eye, as in "NAME"; "" for nothing
	Means   string          // what a name of one's own stands for, for the eye; "" for nothing
	Tooltip string          // one sentence
	Offers  func() []string // what can stand behind the name now; nil: nothing is known of it
	Free    bool            // what else is typed behind the name counts as well
	// Run does it. An error says what was wrong with the words, and what is
	// possible: the palette stays open, so that they can be mended.
	Run func(words string) (tea.Cmd, error)
}

// title is the verb as it stands in the list.
func (v *Verb) title() string { return strings.TrimSpace(v.Name + " " + v.Takes + v.Means) }

// offers are what can stand behind the name and begins as typed does.
func (v *Verb) offers(typed string) []string {
	if v.Offers == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.Offers()), func(offer string) bool {
		return len(offer) < len(typed) || !strings.EqualFold(offer[:len(typed)], typed)
	})
}

// wrong says that words cannot stand behind the name, and what can.
func (v *Verb) wrong(words string) string {
	is := "not " + words
	if words == "" {
		is = "and one is needed"
	}
	return v.Name + " takes " + strings.Join(v.Offers(), ", ") + "; " + is
}

// typedVerb is the verb that is typed with a blank behind it, and what follows.
func (p *Palette) typedVerb() (v *Verb, words string) {
	name, words, blank := strings.Cut(strings.TrimLeft(p.field.Value(), " "), " ")
	if !blank {
		return nil, ""
	}
	for i := range p.verbs {
		if v := &p.verbs[i]; v.Takes != "" && strings.EqualFold(v.Name, name) {
			return v, strings.TrimSpace(words)
		}
	}
	return nil, ""
}

// offer lists what can stand behind a verb. Where nothing begins as the words do,
// it lists all that could. None of it is chosen then, nor before the first letter,
// nor where other words count.
func (p *Palette) offer(v *Verb, words string) {
	offers := v.offers(words)
	if v.Free || words == "" || len(offers) == 0 {
		p.at = -1
	}
	if len(offers) == 0 {
		offers = v.offers("")
	}
	for i, offer := range offers {
		p.hits = append(p.hits, hit{verb: v, offer: offer})
		if offer == words {
			p.at = i
		}
	}
}

// complete completes what is typed by what is offered, or else moves on.
func (p *Palette) complete() {
	v, words := p.typedVerb()
	switch {
	case v == nil && len(p.hits) > 0 && p.hits[p.at].verb != nil && p.hits[p.at].verb.Takes != "":
		p.set(p.hits[p.at].verb.Name + " ")
		return
	case v == nil:
		p.move(1)
		return
	}
	offers := v.offers(words)
	common := words
	if len(offers) > 0 {
		common = offers[0]
		for _, offer := range offers {
			for !strings.HasPrefix(offer, common) {
				common = common[:len(common)-1]
			}
		}
	}
	if len(common) > len(words) {
		p.set(v.Name + " " + common)
		return
	}
	p.move(1)
}

// doVerb chooses a verb with the words behind it.
func (p *Palette) doVerb(v *Verb, words string) Answer {
	if p.at >= 0 && p.hits[p.at].offer != "" {
		words = p.hits[p.at].offer
	} else if !v.Free && v.Offers != nil && len(v.Offers()) > 0 {
		p.refused = v.wrong(words)
		return Answer{}
	}
	return Answer{Kind: Said, Verb: v, Words: words}
}

// Refuse says why what was chosen cannot be done. What was typed stays.
func (p *Palette) Refuse(why string) { p.refused = why }

// Remembered has the palette offer verbs beside the actions, and what it ran
// before, the newest first.
func (p *Palette) Remembered(verbs []Verb, ran []string) {
	p.verbs, p.ran = verbs, ran
	p.search()
}

// recall replaces what is typed by what ran before it, or after it by a negative
// number. It reports false where that is not what the key is for.
func (p *Palette) recall(by int) bool {
	to := p.back + by
	switch begins := p.back < 0 && p.field.Value() == "" && p.at == 0; {
	case p.back < 0 && (by < 0 || !begins), len(p.ran) == 0:
		return false
	case to >= len(p.ran):
		return true // the oldest stays
	case to < 0:
		p.set("")
		return true
	default:
		p.set(p.ran[to])
		p.back = to
		return true
	}
}

// set replaces what is typed.
func (p *Palette) set(text string) {
	p.field.SetValue(text)
	p.field.CursorEnd()
	p.search()
}

// recency is how long ago an action or a verb ran: 0 for the last, more for those
// before it, and most for what never did.
func (p *Palette) recency(title string) int {
	for i, ran := range p.ran {
		if first, _, _ := strings.Cut(ran, " "); ran == title || first == title {
			return i
		}
	}
	return len(p.ran)
}
