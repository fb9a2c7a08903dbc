package api

// Money is an exact amount: whole subunits of a currency, never a float.
type Money struct {
	Currency string // ISO 4217, upper case, "USD"
	Subunits int64  // cents for USD, whole yen for JPY, fils for KWD
}

// String is the amount with its currency, "44.52 USD".
func (m Money) String() string { panic("unwritten") }

// Amount is the amount alone, with the currency's own number of decimals:
// "44.52" for USD, "4452" for JPY, "4.452" for KWD.
func (m Money) Amount() string { panic("unwritten") }

// ParseMoney reads what [Money.String] writes: an amount, optional spaces and a
// three-letter currency, "44.52USD" as well as "44.52 USD".
func ParseMoney(s string) (Money, error) { panic("unwritten") }
