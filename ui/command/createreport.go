package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/confirm"
	"tillwatch/ui/session"
	"tillwatch/ui/wording"
)

// createReport is the object of `create --json` and `purchase --json`.
type createReport struct {
	*confirmReport
	Reference api.Text         `json:"reference"`
	Status    int              `json:"status,omitempty"` // of a refusal
	Fields    []api.FieldError `json:"fields,omitempty"` // that were refused

	purchase bool
	why      error // the price, if it prevents a purchase
	body     *createBody
}

func newCreateReport(s *session.Session, purchase bool, body *createBody) *createReport {
	return &createReport{confirmReport: newConfirmReport(s), Reference: body.wanted.ReferenceID, purchase: purchase, body: body}
}

// id is that of the intent; "" if there is none.
func (r *createReport) id() api.ID {
	if r.Intent == nil {
		return ""
	}
	return r.Intent.ID
}

// did is the verb for the report.
func (r *createReport) did() string {
	if r.purchase {
		return "purchased"
	}
	return "created"
}

// sent records a stand-in's answer.
func (r *createReport) sent(in api.Intent, err error) {
	out := confirm.Outcome{Verdict: confirm.Accepted, Intent: &in}
	switch refused := new(*api.Error); {
	case err == nil:
	case api.IsUnknownOutcome(err):
		out = confirm.Outcome{Verdict: confirm.Unknown, Err: err}
	case errors.As(err, refused):
		out = confirm.Outcome{Verdict: confirm.Refused, Err: err}
	default:
		out = confirm.Outcome{Verdict: confirm.NotSent, Err: err}
	}
	r.ended(out)
}

// ended records how it ended.
func (r *createReport) ended(out confirm.Outcome) {
	r.end(out)
	earlier := new(*confirm.UnsettledError)
	const another = ". Give another --reference, or --another-item if this is one more item of that order"
	switch {
	case errors.Is(out.Err, confirm.ErrUsed) && out.Unsettled:
		r.text = fmt.Sprintf("nothing was sent: %s is the reference of another request, whose answer was lost and whose outcome is not known%s%s", r.Reference, r.findOut(), another)
	case errors.Is(out.Err, confirm.ErrUsed):
		r.text = fmt.Sprintf("nothing was sent: %s is already the reference of %s%s", r.Reference, r.id(), another)
	case errors.As(out.Err, earlier):
		at := (*earlier).Earlier.At
		r.text = "nothing was sent: the answer to the same request was lost earlier, and its outcome is not known" + r.findOut() +
			". If nothing shows what came of it, --again sends it once more, and it may then be made twice. It was sent at " + stamp(at, time.Now()) + at.Local().Format(" MST")
	case out.Unsettled: // the audit log cannot be read
	case out.Verdict == confirm.Unknown:
		r.text = "unknown: it may have been " + r.did() + ", so it is not sent again: " + r.Error + r.findOut()
	case out.Verdict == confirm.Already:
		r.text = fmt.Sprintf("nothing was sent: %s was already %s, as %s. Give another --reference for one more", r.Reference, r.did(), r.id())
	case out.Verdict == confirm.Overtaken:
		r.text = fmt.Sprintf("refused, yet %s as %s: a request was doubled on its way", r.did(), r.id())
	case out.Intent != nil:
		r.text = fmt.Sprintf("%s %s: %s, in %s", r.did(), r.id(), cmp.Or(wording.Name(string(out.Intent.State)), "its state is not known"), r.Environment)
		if f := out.Intent.Failure; f != nil && out.Intent.State == api.Failed {
			r.text += fmt.Sprintf(", %s. %s", f.Code.Words(), f.Code.Advice())
		}
	case out.Verdict == confirm.Refused:
		r.text = refusal(out.Err)
		if refused := new(*api.Error); errors.As(out.Err, refused) {
			r.Status, r.Fields = (*refused).Status, (*refused).Fields
		}
	default:
		r.text = "nothing was sent: " + r.Error
	}
}

// findOut says how to find out the outcome of a lost answer.
func (r *createReport) findOut() string {
	text := fmt.Sprintf(". Find out with: tillwatch order %s", r.Reference)
	if r.Reference == "" {
		text = ". Look for it in the dashboard or in the service's console; with --reference, tillwatch order finds it"
	}
	return text
}

// refusal is a refusal by the service in words, field by field on lines of their own.
func refusal(err error) string {
	refused := new(*api.Error)
	switch {
	case errors.Is(err, api.ErrUnauthorized):
		return errUnauthorized.Error()
	case !errors.As(err, refused):
		return err.Error()
	}
	e := **refused
	e.Fields = nil
	text := "refused: " + e.Error()
	if e.Message != "" && e.Name != "" {
		text += fmt.Sprintf(" (%s)", e.Name)
	}
	for _, f := range (*refused).Fields {
		text += "\n" + string(f.Field) + ": " + string(f.Message)
		if f.Value != "" {
			text += " (it was " + string(f.Value) + ")"
		}
	}
	return text
}

// printRequest prints a request that is not sent, with secrets and personal data
// masked.
func printRequest(w io.Writer, s settings, method, path string, body []byte, asJSON bool) error {
	if err := s.RequireService(); err != nil {
		return err
	}
	url := string(api.MaskAddress(api.Scrub(strings.TrimRight(s.APIURL, "/") + path)))
	if asJSON {
		var shown json.RawMessage
		if body != nil {
			shown = api.Masked(body)
		}
		return json.NewEncoder(w).Encode(struct {
			Verdict string          `json:"verdict"`
			Method  string          `json:"method"`
			URL     string          `json:"url"`
			Body    json.RawMessage `json:"body,omitempty"`
		}{"dry_run", method, url, shown})
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s %s\nAuthorization: Bearer [redacted]\n", method, url)
	if method == http.MethodPost {
		out.WriteString("Content-Type: application/json\n\n")
		if err := json.Indent(&out, api.Masked(body), "", "  "); err != nil {
			return err
		}
		out.WriteByte('\n')
	}
	_, err := w.Write(out.Bytes())
	return err
}
