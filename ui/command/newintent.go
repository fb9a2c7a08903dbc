package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/simulator"
	"tillwatch/ui/dashboard/dialog"
)

func magicNames() (names []string) {
	for _, m := range simulator.Magics() {
		names = append(names, m.Name)
	}
	return append(names, asStrings(simulator.FailureCodes())...)
}

// someProduct is the default product.
const someProduct = "https://spice-lab.example/products/chili-crisp"

// productURL is the URL of a product given by URL or by magic name.
func productURL(named string) (string, error) {
	switch {
	case named == "":
		return someProduct, nil
	case strings.Contains(named, "://"):
		return named, nil
	case slices.Contains(magicNames(), named):
		return "https://shop.example/magic/" + named, nil
	}
	return "", fmt.Errorf("%s is neither a URL nor a magic product%s", shownValue(named), suggest(named, magicNames()))
}

// create creates an intent and adds it to the picture at once. Only a stand-in accepts it.
func (s *session) create(ctx context.Context, w dialog.Draft) (api.ID, error) {
	address, err := productURL(w.Product)
	if err != nil {
		return "", err
	}
	fields := map[string]any{"productUrl": address, "quantity": w.Quantity, "buyer": testBuyer()}
	if w.Reference != "" {
		fields["referenceId"] = w.Reference
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return "", err
	}
	in, err := (&createBody{raw: raw}).send(ctx, s.client, false)
	if err != nil {
		r := newCreateReport(s, false, &createBody{})
		r.sent(in, err)
		return "", errors.New(string(api.Scrub(strings.ReplaceAll(r.text, "\n", "; "))))
	}
	s.store.ApplyRead(in, in.Response.Sent, account.ByRead)
	return in.ID, nil
}
