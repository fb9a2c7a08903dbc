package simulator

import (
	"fmt"
	"strings"
)

// place is a town with its offset from UTC in hours.
type place struct {
	city, province string
	offset         int
}

// home is where a buyer lives.
type home struct {
	place
	postal, area string // first digits of the postal code, area code
	tax          int64  // of sales, in thousandths of a percent
}

func homes() []home {
	return []home{
		{place{"Brooklyn", "NY", -5}, "112", "212", 8875},
		{place{"Albany", "NY", -5}, "122", "518", 8000},
		{place{"San Francisco", "CA", -8}, "941", "415", 8625},
		{place{"San Diego", "CA", -8}, "921", "619", 7750},
		{place{"Seattle", "WA", -8}, "981", "206", 10250},
		{place{"Portland", "OR", -8}, "972", "503", 0},
		{place{"Austin", "TX", -6}, "787", "512", 8250},
		{place{"Chicago", "IL", -6}, "606", "312", 10250},
		{place{"Boston", "MA", -5}, "021", "617", 6250},
		{place{"Denver", "CO", -7}, "802", "303", 8810},
		{place{"Atlanta", "GA", -5}, "303", "404", 8900},
		{place{"Minneapolis", "MN", -6}, "554", "612", 9025},
		{place{"Raleigh", "NC", -5}, "276", "919", 7250},
		{place{"Helena", "MT", -7}, "596", "406", 0},
	}
}

func places() []place {
	var all []place
	for _, h := range homes() {
		all = append(all, h.place)
	}
	return all
}

// taxOf is the sales tax of a province, in thousandths of a percent.
func taxOf(province string) int64 {
	for _, h := range homes() {
		if strings.EqualFold(h.province, province) {
			return h.tax
		}
	}
	return 6000
}

// placeOf is where a buyer lives, with a guess at the offset.
func placeOf(b *buyerWire) place {
	for _, h := range homes() {
		if strings.EqualFold(h.province, b.Province) {
			return place{b.City, b.Province, h.offset}
		}
	}
	return place{b.City, b.Province, -5}
}

// invented names, addresses and telephone numbers: 555-01xx is kept free for
// fiction, and the mail domains for examples.
func inventBuyer(d dice) *buyerWire {
	first := pick(d, []string{"Mara", "Élodie", "Tomás", "Ines", "Jonah", "Priya", "Wren", "Soren", "Aiko", "Bea", "Caspian", "Dalia", "Emeka", "Freya", "Gus", "Hana", "Idris", "Juno", "Kofi", "Lena"})
	last := pick(d, []string{"Okafor", "Vandermeer", "Quill", "Nguyễn", "Ashdown", "Bellweather", "Castellan", "Drummond-Ivey", "Eastlake", "Fairbrother", "Greaves", "Hollis", "Ibarra", "Juniper", "Kestrel", "Lindqvist"})
	street := pick(d, []string{"Juniper Ave", "Lombard St", "Alder Ln", "Cedar Ct", "Maple Row", "Harbor Way", "Mill Rd", "Quarry St", "Orchard Pl", "Foundry Ave"})
	h := pick(d, homes())
	b := &buyerWire{
		FirstName: first, LastName: last,
		Email:      fmt.Sprintf("buyer.%d@example.%s", d.between(100, 9999), pick(d, []string{"com", "org", "net"})),
		Phone:      fmt.Sprintf("%s-555-01%02d", h.area, d.IntN(100)),
		Address1:   fmt.Sprintf("%d %s", d.between(2, 2400), street),
		City:       h.city,
		Province:   h.province,
		PostalCode: fmt.Sprintf("%s%02d", h.postal, d.between(1, 60)),
		Country:    "US",
	}
	if d.chance(0.3) {
		b.Address2 = fmt.Sprintf("Apt %d%c", d.between(1, 20), 'A'+rune(d.IntN(6)))
	}
	return b
}

func carrierNames() []string {
	return []string{"ParcelNorth", "Bluefin Express", "Meridian Post", "Roadway Freight"}
}

// tracking invents the number of a parcel and the page that shows it.
func inventTracking(d dice, carrier string) (number, page string) {
	switch carrier {
	case "ParcelNorth":
		number = fmt.Sprintf("PN9400%014d", d.Int64N(1e14))
	case "Bluefin Express":
		number = fmt.Sprintf("BFX%010dUS", d.Int64N(1e10))
	case "Meridian Post":
		number = fmt.Sprintf("MP%09d", d.Int64N(1e9))
	default:
		number = fmt.Sprintf("%012d", d.Int64N(1e12))
	}
	domain := strings.ToLower(strings.ReplaceAll(carrier, " ", "-")) + ".example"
	return number, "https://track." + domain + "/t/" + number
}
