package dialog

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// Verb is a command of the palette: a name and, mostly, an argument, as in "theme nord".
type Verb struct {
	Name     string
	Argument string          // the kind of argument, for display, as in "NAME"; "": it takes none
	Means    string          // what a saved name means, for display; "" for other verbs
	Tooltip  string          // one sentence
	Offers   func() []string // possible arguments now; nil: they are not known
	Free     bool            // other arguments are allowed, too
	// Run runs the verb. An error says what is wrong with the argument, and what is
	// possible: the palette stays open, so that it can be corrected.
	Run func(argument string) (tea.Cmd, error)
}

// title is the verb as it is listed.
func (v *Verb) title() string { return strings.TrimSpace(v.Name + " " + v.Argument + v.Means) }

// offers are the possible arguments that begin with what is typed.
func (v *Verb) offers(typed string) []string {
	if v.Offers == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(v.Offers()), func(offer string) bool {
		return len(offer) < len(typed) || !strings.EqualFold(offer[:len(typed)], typed)
	})
}

// wrong says that an argument is not possible, and which ones are.
func (v *Verb) wrong(argument string) string {
	given := "not " + argument
	if argument == "" {
		given = "and one is needed"
	}
	return v.Name + " takes " + strings.Join(v.Offers(), ", ") + "; " + given
}

// typedVerb is the verb whose name is typed with a blank after it, and its argument.
func (p *Palette) typedVerb() (v *Verb, argument string) {
	name, argument, blank := strings.Cut(strings.TrimLeft(p.field.Value(), " "), " ")
	if !blank {
		return nil, ""
	}
	for i := range p.verbs {
		if v := &p.verbs[i]; v.Argument != "" && strings.EqualFold(v.Name, name) {
			return v, strings.TrimSpace(argument)
		}
	}
	return nil, ""
}

// offer lists the possible arguments of a verb that begin with what is typed, or all if none
// does. The cursor is on none of them if none does, before the first letter, and if other
// arguments are allowed.
func (p *Palette) offer(v *Verb, argument string) {
	offers := v.offers(argument)
	if v.Free || argument == "" || len(offers) == 0 {
		p.at = -1
	}
	if len(offers) == 0 {
		offers = v.offers("")
	}
	for i, offer := range offers {
		p.hits = append(p.hits, hit{verb: v, offer: offer})
		if offer == argument {
			p.at = i
		}
	}
}

// complete completes the typed argument as far as the offers agree, or else moves the cursor.
func (p *Palette) complete() {
	v, argument := p.typedVerb()
	switch {
	case v == nil && len(p.hits) > 0 && p.hits[p.at].verb != nil && p.hits[p.at].verb.Argument != "":
		p.set(p.hits[p.at].verb.Name + " ")
		return
	case v == nil:
		p.move(1)
		return
	}
	offers := v.offers(argument)
	common := argument
	if len(offers) > 0 {
		common = offers[0]
		for _, offer := range offers {
			for !strings.HasPrefix(offer, common) {
				_, size := utf8.DecodeLastRuneInString(common)
				common = common[:len(common)-size]
			}
		}
	}
	if len(common) > len(argument) {
		p.set(v.Name + " " + common)
		return
	}
	p.move(1)
}

// doVerb chooses a verb with its argument.
func (p *Palette) doVerb(v *Verb, argument string) Answer {
	if p.at >= 0 && p.hits[p.at].offer != "" {
		argument = p.hits[p.at].offer
	} else if !v.Free && v.Offers != nil && len(v.Offers()) > 0 {
		p.refused = v.wrong(argument)
		return Answer{}
	}
	return Answer{Kind: VerbChosen, Verb: v, Argument: argument}
}

// Refuse says why the choice is not possible. The typed text stays.
func (p *Palette) Refuse(why string) { p.refused = why }

// SetVerbs makes the palette offer verbs beside the actions.
func (p *Palette) SetVerbs(verbs []Verb) {
	p.verbs = verbs
	p.search()
}

// set replaces what is typed.
func (p *Palette) set(text string) {
	p.field.SetValue(text)
	p.field.CursorEnd()
	p.search()
}
