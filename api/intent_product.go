package api

import (
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Merchant is the host of the product URL, without a leading "www.".
func (i *Intent) Merchant() Text {
	address, err := url.Parse(string(i.ProductURL))
	if err != nil {
		return ""
	}
	// A host may be percent-encoded, so what comes out was not scrubbed yet.
	return Scrub(strings.TrimPrefix(strings.ToLower(address.Hostname()), "www."))
}

// ProductName is the title that the offer carries, or else one made of the last
// path segment of the product URL: "chili-crisp" becomes "Chili Crisp". An
// intent without either is named by its merchant.
func (i *Intent) ProductName() Text {
	if i.Offer != nil && strings.TrimSpace(string(i.Offer.ProductTitle)) != "" {
		return i.Offer.ProductTitle
	}
	address, err := url.Parse(string(i.ProductURL))
	if err != nil {
		return ""
	}
	segment := path.Base(address.Path)
	switch ext := path.Ext(segment); strings.ToLower(ext) {
	case ".html", ".htm", ".php", ".aspx", ".jsp":
		segment = strings.TrimSuffix(segment, ext)
	}
	words := strings.FieldsFunc(string(Scrub(segment)), func(r rune) bool {
		return strings.ContainsRune("-_+/. ", r)
	})
	if len(words) == 0 {
		return i.Merchant()
	}
	for n, word := range words {
		first, size := utf8.DecodeRuneInString(word)
		words[n] = string(unicode.ToTitle(first)) + word[size:]
	}
	return Scrub(strings.Join(words, " "))
}
