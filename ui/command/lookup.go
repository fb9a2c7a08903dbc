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
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tillwatch/api"
	"tillwatch/ui/wording"
)

func newLookup() *cobra.Command {
	var asJSON, dryRun bool
	command := &cobra.Command{
		Use:   "lookup PRODUCT-URL",
		Short: "Look up a product: price, tax, shipping and variants",
		Long: "Look up the product at a URL, as the service sees it now. This counts only against the lookup bucket.\n\n" +
			"Exit codes:\n0  done\n1  failed: there is no such product, or the service could not be asked\n2  wrong usage",
		Example: "tillwatch lookup https://spice-lab.example/products/chili-crisp\ntillwatch lookup https://spice-lab.example/products/chili-crisp --json | jq .price",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return errors.New("which product? give its URL: tillwatch lookup https://shop.example/products/mug")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			s, err := settingsOf(c)
			if err != nil {
				return err
			}
			if dryRun {
				return printRequest(c.OutOrStdout(), s, http.MethodGet, s.LookupPath+"?url="+url.QueryEscape(string(api.MaskAddress(api.Scrub(args[0])))), nil, asJSON)
			}
			return runLookup(c.Context(), s, args[0], asJSON, c.OutOrStdout())
		},
	}
	flags := command.Flags()
	sourceFlags(flags)
	settingFlags(flags, "api_url", "insecure_http")
	flags.BoolVar(&dryRun, "dry-run", false, "print the request and send nothing")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

func runLookup(ctx context.Context, s settings, address string, asJSON bool, stdout io.Writer) error {
	s.AllowConfirm, s.RelayURL = false, ""
	current, err := newSession(s, forgets)
	if err != nil {
		return err
	}
	defer current.close()
	product, err := current.client.LookupProduct(ctx, address)
	switch {
	case errors.Is(err, api.ErrUnauthorized):
		return errUnauthorized
	case errors.Is(err, api.ErrNotFound):
		return fmt.Errorf("%s knows no product at this URL: %w", current.client.Environment().Name, err)
	case errors.Is(err, api.ErrValidation):
		r := createReport{confirmReport: &confirmReport{}}
		r.refused(err)
		return errors.New(r.text)
	case err != nil:
		return err
	}
	r := productOf(&product)
	return printed(stdout, asJSON, r, r.sheet())
}

// productReport is the object of `lookup --json`. Fields are added, never renamed.
type productReport struct {
	Product      api.ID           `json:"product"`
	Environment  string           `json:"environment"`
	Name         api.Text         `json:"name"`
	Brand        api.Text         `json:"brand"`
	Retailer     api.Text         `json:"retailer"`
	SKU          api.Text         `json:"sku"`
	URL          api.Text         `json:"url"`
	Price        *moneyReport     `json:"price"` // null if missing, like tax and shipping
	Tax          *moneyReport     `json:"tax"`
	Shipping     *moneyReport     `json:"shipping"`
	Availability api.Availability `json:"availability"`
	Purchasable  bool             `json:"purchasable"`
	Choices      []choiceReport   `json:"choices"`
	Variants     []productVariant `json:"variants"`
	Body         json.RawMessage  `json:"body"`
}

type choiceReport struct {
	Label  api.Text   `json:"label"`
	Values []api.Text `json:"values"`
}

type productVariant struct {
	ID           api.ID           `json:"id"`
	Name         api.Text         `json:"name"`
	Price        *moneyReport     `json:"price"`
	Availability api.Availability `json:"availability"`
}

func productOf(p *api.Product) productReport {
	r := productReport{
		Product: p.ID, Environment: p.Response.From.Name, Name: p.Name, Brand: p.Brand, Retailer: p.Retailer, SKU: p.SKU, URL: api.MaskAddress(p.URL),
		Price: moneyOf(p.Price), Tax: moneyOf(p.Tax), Shipping: moneyOf(p.Shipping), Availability: p.Availability, Purchasable: p.Purchasable,
		Choices: []choiceReport{}, Variants: []productVariant{}, Body: api.Masked(p.Raw),
	}
	for _, d := range p.Dimensions {
		r.Choices = append(r.Choices, choiceReport(d))
	}
	for _, v := range p.Variants {
		r.Variants = append(r.Variants, productVariant{v.ID, v.Name, moneyOf(v.Price), v.Availability})
	}
	return r
}

// sheet prints it for people. Missing values are left out.
func (r productReport) sheet() string {
	var sheet strings.Builder
	table := tabwriter.NewWriter(&sheet, 0, 0, 2, ' ', 0)
	row := func(label, value string) {
		if value != "" {
			fmt.Fprintf(table, "%s\t%s\n", label, api.Scrub(value))
		}
	}
	money := func(label string, m *moneyReport) {
		if m != nil {
			row(label, m.String())
		}
	}
	available := wording.Name(string(r.Availability))
	if !r.Purchasable {
		available = strings.TrimPrefix(available+", cannot be bought", ", ")
	}
	row("Product", string(r.Name))
	row("Id", string(r.Product))
	row("Brand", string(r.Brand))
	row("Retailer", string(r.Retailer))
	row("SKU", string(r.SKU))
	row("URL", string(r.URL))
	money("Price", r.Price)
	money("Tax", r.Tax)
	money("Shipping", r.Shipping)
	row("Available", available)
	for _, c := range r.Choices {
		row(string(c.Label), joinedTexts(c.Values))
	}
	for _, v := range r.Variants {
		price := ""
		if v.Price != nil {
			price = v.Price.String()
		}
		fmt.Fprintf(table, "Variant\t%s\t%s\t%s\n", api.Scrub(string(v.Name)), api.Scrub(price), wording.Name(string(v.Availability)))
	}
	_ = table.Flush() // to memory: cannot fail
	return sheet.String()
}
