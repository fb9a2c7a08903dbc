package api

import (
	"math"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"
)

func TestMoneyPrintsTheCurrencysOwnDecimals(t *testing.T) {
	tests := []struct {
		money Money
		want  string
	}{
		{Money{"USD", 4452}, "44.52 USD"},
		{Money{"USD", 5}, "0.05 USD"},
		{Money{"USD", 0}, "0.00 USD"},
		{Money{"USD", -5}, "-0.05 USD"},
		{Money{"USD", 999999}, "9999.99 USD"},
		{Money{"JPY", 4452}, "4452 JPY"},
		{Money{"KRW", 0}, "0 KRW"},
		{Money{"KWD", 4452}, "4.452 KWD"},
		{Money{"BHD", 7}, "0.007 BHD"},
		{Money{"CLF", 12345}, "1.2345 CLF"},
		{Money{"RSD", 4452}, "44.52 RSD"},
		{Money{"IQD", 4452}, "4.452 IQD"},
		{Money{"COP", 4452}, "44.52 COP"},
		{Money{"UYW", 4452}, "0.4452 UYW"},
		{Money{"QQQ", 4452}, "44.52 QQQ"},
		{Money{"", 4452}, "44.52"},
		{Money{"USD", math.MaxInt64}, "92233720368547758.07 USD"},
		{Money{"USD", math.MinInt64}, "-92233720368547758.08 USD"},
		{Money{"JPY", math.MinInt64}, "-9223372036854775808 JPY"},
	}
	for _, test := range tests {
		if got := test.money.String(); got != test.want {
			t.Errorf("%d %s prints %q, want %q", test.money.Subunits, test.money.Currency, got, test.want)
		}
	}
}

func TestParseMoneyReadsExactly(t *testing.T) {
	tests := []struct {
		in   string
		want Money
	}{
		{"44.52 USD", Money{"USD", 4452}},
		{"44.52USD", Money{"USD", 4452}},
		{"  44.52   usd ", Money{"USD", 4452}},
		{"44 USD", Money{"USD", 4400}},
		{"44.5 USD", Money{"USD", 4450}},
		{"0.29 USD", Money{"USD", 29}},
		{"-0.05 USD", Money{"USD", -5}},
		{"4452 JPY", Money{"JPY", 4452}},
		{"1,234.50 USD", Money{"USD", 123450}},
		{"1,234,567 JPY", Money{"JPY", 1234567}},
		{"4.452 KWD", Money{"KWD", 4452}},
		{"92233720368547758.07 USD", Money{"USD", math.MaxInt64}},
	}
	for _, test := range tests {
		got, err := ParseMoney(test.in)
		if err != nil || got != test.want {
			t.Errorf("ParseMoney(%q) = %v, %v; want %v", test.in, got, err, test.want)
		}
	}
}

func TestParseMoneyRefusesWhatItWouldHaveToGuess(t *testing.T) {
	tests := []struct{ in, says string }{
		{"", "want an amount"},
		{"44.52", "currency"},
		{"44.52 $", "currency"},
		{"USD", "digits"},
		{"44.521 USD", "USD has 2 decimals"},
		{"44.5 JPY", "JPY has 0 decimals"},
		{"1,00.00 USD", "digits"},
		{"1000,000 USD", "digits"},
		{",000 USD", "digits"},
		{"1,,000 USD", "digits"},
		{"1.000,00 USD", "digits"},
		{"44,52 USD", "digits"},
		{"44. USD", "digits"},
		{".5 USD", "digits"},
		{"--5 USD", "digits"},
		{"+5 USD", "digits"},
		{"4e2 USD", "digits"},
		{"٤٤ USD", "digits"},
		{"92233720368547758.08 USD", "too large"},
		{"\x1b[31m USD", "digits"},
	}
	for _, test := range tests {
		got, err := ParseMoney(test.in)
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("ParseMoney(%q) = %v, %v; want an error that says %q", test.in, got, err, test.says)
		}
		if err != nil && strings.Contains(err.Error(), "\x1b") {
			t.Errorf("the error of %q carries an escape", test.in)
		}
	}
}

func TestParseMoneyReadsBackWhatIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Money{
			Currency: rapid.SampledFrom([]string{"USD", "EUR", "JPY", "KWD", "CLF", "IQD", "ISK", "QQQ"}).Draw(t, "currency"),
			Subunits: rapid.Int64().Draw(t, "subunits"),
		}
		for _, written := range []string{want.String(), want.Readable()} {
			if got, err := ParseMoney(written); err != nil || got != want {
				t.Fatalf("%q read back as %v, %v", written, got, err)
			}
		}
	})
}

func TestMoneyDecodesWholeSubunitsOnly(t *testing.T) {
	tests := []struct {
		name, body string
		want       *Money
	}{
		{"integer", `{"currencyCode":"USD","amountSubunits":1500}`, &Money{"USD", 1500}},
		{"float without a fraction", `{"currencyCode":"USD","amountSubunits":1500.0}`, &Money{"USD", 1500}},
		{"exponent", `{"currencyCode":"USD","amountSubunits":1.5e3}`, &Money{"USD", 1500}},
		{"beyond 53 bits", `{"currencyCode":"USD","amountSubunits":9007199254740993}`, &Money{"USD", 9007199254740993}},
		{"lower case", `{"currencyCode":"usd","amountSubunits":1}`, &Money{"USD", 1}},
		{"fraction", `{"currencyCode":"USD","amountSubunits":1500.5}`, nil},
		{"inexact float", `{"currencyCode":"USD","amountSubunits":9007199254740993.0}`, nil},
		{"beyond 64 bits", `{"currencyCode":"USD","amountSubunits":1e300}`, nil},
		{"text", `{"currencyCode":"USD","amountSubunits":"1500"}`, nil},
		{"no currency", `{"amountSubunits":1500}`, nil},
		{"a currency that draws", `{"currencyCode":"U\u001bS","amountSubunits":1500}`, nil},
		{"no amount", `{"currencyCode":"USD"}`, nil},
		{"null", `null`, nil},
		{"number", `15`, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := decodeMoney(gjson.Parse(test.body))
			if (got == nil) != (test.want == nil) || got != nil && *got != *test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestReadableMoneySeparatesThousands(t *testing.T) {
	for want, money := range map[string]Money{
		"44.52 USD": {"USD", 4452}, "999.99 USD": {"USD", 99999}, "1,000.00 USD": {"USD", 100000},
		"-1,234,567.89 USD": {"USD", -123456789}, "4,452 JPY": {"JPY", 4452}, "1,234.567 KWD": {"KWD", 1234567}, "1,234.00": {"", 123400},
	} {
		if got := money.Readable(); got != want {
			t.Errorf("%s reads %q, want %q", money, got, want)
		}
	}
}
