package simulator

import (
	"slices"
	"testing"
)

func TestTheWorldKnowsAllThatItNames(t *testing.T) {
	w := theWorld()
	products := 0
	for _, m := range w.Merchants {
		for _, name := range m.Carriers {
			if !slices.ContainsFunc(w.Carriers, func(c carrier) bool { return c.Name == name }) {
				t.Errorf("%s ships with %q, which is no carrier", m.Domain, name)
			}
		}
		if len(m.Carriers) == 0 {
			t.Errorf("%s has no carrier", m.Domain)
		}
		for _, p := range m.Products {
			products++
			for _, choice := range p.Choices {
				if len(w.Dimensions[choice].Values) == 0 {
					t.Errorf("%s has the choice %q, which is no dimension", p.Handle, choice)
				}
			}
			if p.Price <= 0 || p.Popularity <= 0 || p.Name == "" {
				t.Errorf("%s of %s is incomplete: %+v", p.Handle, m.Domain, p)
			}
		}
	}
	if products < 40 || len(w.Homes) == 0 || len(w.FirstNames) == 0 || len(w.LastNames) == 0 || len(w.Streets) == 0 {
		t.Errorf("%d products, %d homes", products, len(w.Homes))
	}
	for _, m := range w.Magics {
		if m.Does == "" || magicOf(magicURL(m.Name)).situation != situation(m.Name) {
			t.Errorf("the magic %q does nothing", m.Name)
		}
	}
}

func TestNoTwoSimulatorsShareAProduct(t *testing.T) {
	one, other := newCatalogue().find(chiliCrisp), newCatalogue().find(chiliCrisp)
	one.Price++
	if other.Price == one.Price || newCatalogue().find(chiliCrisp).Price == one.Price {
		t.Error("a price changed in one simulator changes in another")
	}
}
