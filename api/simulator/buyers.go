package simulator

import (
	"fmt"
	"slices"
	"strings"
)

// homeIn returns a home in a province; ok is false if the world has none there.
func homeIn(province string) (h home, ok bool) {
	homes := theWorld().Homes
	i := slices.IndexFunc(homes, func(h home) bool { return strings.EqualFold(h.Province, province) })
	if i < 0 {
		return home{}, false
	}
	return homes[i], true
}

// taxOf returns the sales tax of a province, in thousandths of a percent.
func taxOf(province string) int64 {
	if h, known := homeIn(province); known {
		return h.Tax
	}
	return 6000
}

// placeOf returns where a buyer lives, with a guess at the offset from UTC.
func placeOf(b *buyerWire) place {
	if h, known := homeIn(b.Province); known {
		return place{b.City, b.Province, h.Offset}
	}
	return place{b.City, b.Province, -5}
}

func inventBuyer(d dice) *buyerWire {
	w := theWorld()
	first, last, street := pick(d, w.FirstNames), pick(d, w.LastNames), pick(d, w.Streets)
	h := pick(d, w.Homes)
	b := &buyerWire{
		FirstName: first, LastName: last,
		Email:      fmt.Sprintf("buyer.%d@example.%s", d.between(100, 9999), pick(d, []string{"com", "org", "net"})),
		Phone:      fmt.Sprintf("%s-555-01%02d", h.Area, d.IntN(100)),
		Address1:   fmt.Sprintf("%d %s", d.between(2, 2400), street),
		City:       h.City,
		Province:   h.Province,
		PostalCode: fmt.Sprintf("%s%02d", h.Postal, d.between(1, 60)),
		Country:    "US",
	}
	if d.chance(0.3) {
		b.Address2 = fmt.Sprintf("Apt %d%c", d.between(1, 20), 'A'+rune(d.IntN(6)))
	}
	return b
}
