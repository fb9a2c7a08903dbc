package api

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unique"

	"github.com/tidwall/gjson"
)

// Money is an exact amount: whole subunits of a currency, never a float.
type Money struct {
	Currency string `json:"currencyCode"`   // ISO 4217, upper case, "USD"
	Subunits int64  `json:"amountSubunits"` // cents for USD, whole yen for JPY, fils for KWD
}

// String is the amount with its currency, "44.52 USD".
func (m Money) String() string {
	if m.Currency == "" {
		return m.Amount()
	}
	return m.Amount() + " " + m.Currency
}

// Amount is the amount alone, with the currency's own number of decimals:
// "44.52" for USD, "4452" for JPY, "4.452" for KWD. A currency that is not known
// is taken to have two.
func (m Money) Amount() string {
	decimals := m.Decimals()
	magnitude := uint64(m.Subunits)
	if m.Subunits < 0 {
		magnitude = -magnitude
	}
	digits := strconv.FormatUint(magnitude, 10)
	if missing := decimals + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	if decimals > 0 {
		point := len(digits) - decimals
		digits = digits[:point] + "." + digits[point:]
	}
	if m.Subunits < 0 {
		return "-" + digits
	}
	return digits
}

// Readable is [Money.String] with commas between thousands, "1,234.50 USD".
func (m Money) Readable() string {
	amount := Grouped(m.Amount())
	if m.Currency == "" {
		return amount
	}
	return amount + " " + m.Currency
}

// Grouped sets commas between the thousands of a decimal number.
func Grouped(number string) string {
	whole, decimals, _ := strings.Cut(number, ".")
	digits := strings.TrimPrefix(whole, "-")
	if len(digits) <= 3 {
		return number
	}
	var b strings.Builder
	b.WriteString(whole[:len(whole)-len(digits)])
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	if decimals != "" {
		b.WriteString("." + decimals)
	}
	return b.String()
}

// Decimals is the number of decimals of the currency: its minor units in ISO
// 4217. Tables made for printing prices are no help here: many leave out the
// subunits that no coin is left for, and amounts on the wire still count them.
func (m Money) Decimals() int {
	switch m.Currency {
	case "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF":
		return 0
	case "BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND":
		return 3
	case "CLF", "UYW":
		return 4
	}
	return 2
}

// ParseMoney reads what [Money.String] writes: an amount, optional spaces and a
// three-letter currency, "44.52USD" as well as "44.52 USD", and what
// [Money.Readable] writes: "1,234.50 USD". Decimals that the currency does not have,
// commas anywhere but between thousands and amounts beyond 64 bits are errors:
// nothing is ever rounded.
func ParseMoney(s string) (Money, error) {
	money, err := parseMoney(strings.TrimSpace(s))
	if err != nil {
		return Money{}, fmt.Errorf("amount %.40q: %w", s, err)
	}
	return money, nil
}

func parseMoney(s string) (Money, error) {
	if len(s) < 3 {
		return Money{}, errors.New("want an amount and a currency, like 44.52 USD")
	}
	amount, code := strings.TrimRight(s[:len(s)-3], " "), s[len(s)-3:]
	name, ok := currencyCode(code)
	if !ok {
		return Money{}, errors.New("want a three-letter currency at the end, like 44.52 USD")
	}
	money := Money{Currency: name}
	digits, negative := strings.CutPrefix(amount, "-")
	whole, fraction, pointed := strings.Cut(digits, ".")
	if grouped.MatchString(whole) {
		whole = strings.ReplaceAll(whole, ",", "")
	}
	if !isDigits(whole) || pointed && !isDigits(fraction) {
		return Money{}, errors.New("want digits and at most one decimal point, like 44.52 USD")
	}
	decimals := money.Decimals()
	if len(fraction) > decimals {
		return Money{}, fmt.Errorf("%s has %d decimals", name, decimals)
	}
	fraction += strings.Repeat("0", decimals-len(fraction))
	sign := ""
	if negative {
		sign = "-"
	}
	subunits, err := strconv.ParseInt(sign+whole+fraction, 10, 64)
	if err != nil {
		return Money{}, errors.New("too large")
	}
	money.Subunits = subunits
	return money, nil
}

// grouped is a number with commas between its thousands.
var grouped = regexp.MustCompile(`^\d{1,3}(,\d{3})+$`)

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func currencyCode(s string) (string, bool) {
	if len(s) != 3 {
		return "", false
	}
	for i := range len(s) {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return "", false
		}
	}
	return unique.Make(strings.ToUpper(s)).Value(), true
}

// decodeMoney reads {currencyCode, amountSubunits}; nil unless both are there.
func decodeMoney(v gjson.Result) *Money {
	f := fieldsOf(v)
	currency, named := currencyCode(f["currencyCode"].Str)
	subunits, counted := integer(f["amountSubunits"])
	if !named || !counted {
		return nil
	}
	return &Money{Currency: currency, Subunits: subunits}
}

// integer reads a whole number, also one written with a fraction of zero.
func integer(v gjson.Result) (int64, bool) {
	if v.Type != gjson.Number {
		return 0, false
	}
	if n, err := strconv.ParseInt(v.Raw, 10, 64); err == nil {
		return n, true
	}
	const exact = 1 << 53 // beyond it a float skips integers
	f, err := strconv.ParseFloat(v.Raw, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= exact {
		return 0, false
	}
	return int64(f), true
}
