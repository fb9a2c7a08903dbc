package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/ui/session"
	"tillwatch/ui/wording"
)

func newLookup() *cobra.Command {
	var asJSON, dryRun bool
	command := &cobra.Command{
		Use:   "lookup PRODUCT-URL",
		Short: "Look up a product: price, tax, shipping and variants",
		Long: "Look up the product at a URL, as the service sees it now. This counts only against the lookup bucket.\n\n" +
			"Exit codes:\n0  done\n1  failed: there is no such product, or the service could not be asked\n2  wrong usage",
		Example: "tillwatch lookup https://spice-lab.example/products/chili-crisp\ntillwatch lookup https://spice-lab.example/products/chili-crisp --json | jq .product.price",
		Args:    argument("which product? give its URL: tillwatch lookup https://shop.example/products/mug", "give one URL: leave out the others"),
		RunE: configured(func(c *cobra.Command, s settings, args []string) error {
			if dryRun {
				return printRequest(c.OutOrStdout(), s, http.MethodGet, s.LookupPath+"?url="+url.QueryEscape(string(api.MaskAddress(api.Scrub(args[0])))), nil, asJSON)
			}
			return runLookup(c.Context(), s, args[0], asJSON, c.OutOrStdout())
		}),
	}
	flags := command.Flags()
	sourceFlags(flags, "api_url", "insecure_http")
	flags.BoolVar(&dryRun, "dry-run", false, "print the request and send nothing")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

func runLookup(ctx context.Context, s settings, address string, asJSON bool, stdout io.Writer) error {
	current, err := session.New(s, session.Options{})
	if err != nil {
		return err
	}
	defer current.Close()
	product, err := current.Client.LookupProduct(ctx, address)
	switch {
	case errors.Is(err, api.ErrUnauthorized):
		return errUnauthorized
	case errors.Is(err, api.ErrMissing):
		return fmt.Errorf("%s knows no product at this URL: %w", current.Client.Environment().Name, err)
	case errors.Is(err, api.ErrValidation):
		return errors.New(refusal(err))
	case err != nil:
		return err
	}
	for _, text := range []*api.Text{&product.URL, &product.Image, &product.Description} {
		*text = api.MaskAddress(*text)
	}
	return printed(stdout, asJSON, productLine{product.Response.From.Name, &product, api.Masked(product.Raw)}, productSheet(&product))
}

// productLine is the object of `lookup --json`.
type productLine struct {
	Environment string          `json:"environment"`
	Product     *api.Product    `json:"product"`
	Body        json.RawMessage `json:"body"` // the answer, masked
}

// productSheet is a product for people. Missing values are left out.
func productSheet(p *api.Product) string {
	available := wording.Name(string(p.Availability))
	if p.Purchasable != nil && !*p.Purchasable {
		available = strings.TrimPrefix(available+", cannot be bought", ", ")
	}
	rows := []fact{
		{"Product", string(p.Name)}, {"Id", string(p.ID)}, {"Brand", string(p.Brand)}, {"Retailer", string(p.Retailer)}, {"SKU", string(p.SKU)}, {"URL", string(p.URL)},
		{"Price", inWords(p.Price)}, {"Tax", inWords(p.Tax)}, {"Shipping", inWords(p.Shipping)}, {"Available", available},
	}
	for _, d := range p.Dimensions {
		rows = append(rows, fact{string(d.Label), joinedTexts(d.Values)})
	}
	for _, v := range p.Variants {
		rows = append(rows, fact{"Variant", string(v.Name) + "\t" + inWords(v.Price) + "\t" + wording.Name(string(v.Availability))})
	}
	return facts("", rows...)
}
