package relay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"tillwatch/api"
	"tillwatch/api/quota"
)

// Bounds of a batch of observations.
const (
	maxBatch           = 1000
	maxObservation     = 8 << 10 // bytes of one observation as sent
	maxObservationText = 256     // bytes of each of its texts: what is longer is cut
	maxObservationTime = 366 * 24 * time.Hour
)

var (
	observationID = regexp.MustCompile(`^[!-~]{1,128}$`)

	errBatchTooLong = fmt.Errorf("a batch has at most %d items", maxBatch)
)

// observationBatch is the body of POST /v1/observations.
type observationBatch struct {
	Items batchItems `json:"items"`
}

// batchItems are undecoded items, at most as many as a batch may have, so that a hostile batch takes no more
// memory than its text.
type batchItems []json.RawMessage

// UnmarshalJSON implements [json.Unmarshaler].
func (b *batchItems) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if first, err := decoder.Token(); err != nil || first != json.Delim('[') {
		return errors.New("items is not a list")
	}
	*b = batchItems{}
	for decoder.More() {
		if len(*b) == maxBatch {
			return errBatchTooLong
		}
		var item json.RawMessage
		if err := decoder.Decode(&item); err != nil {
			return err
		}
		*b = append(*b, item)
	}
	return nil
}

// readBatch reads a whole batch, or says which item is invalid and why.
func readBatch(body []byte) ([]quota.Observation, error) {
	var batch observationBatch
	err := json.Unmarshal(body, &batch)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return nil, errors.New(`the body is not a batch: send {"items":[…]}`)
	case errors.Is(err, errBatchTooLong):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("the body is not a batch: %s", shortText(err.Error(), maxObservationText))
	case batch.Items == nil:
		return nil, errors.New(`the body has no items: send {"items":[…]}`)
	}
	all := make([]quota.Observation, len(batch.Items))
	for i, item := range batch.Items {
		if all[i], err = readObservation(item); err != nil {
			return nil, fmt.Errorf("items[%d]: %w", i, err)
		}
	}
	return all, nil
}

func readObservation(text []byte) (o quota.Observation, err error) {
	if len(text) > maxObservation {
		return o, fmt.Errorf("it has more than %d bytes", maxObservation)
	}
	err = json.Unmarshal(text, &o)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field == "":
		return o, errors.New("it is not an object")
	case errors.As(err, &wrong):
		return o, fmt.Errorf("%s has the wrong type: %s", wrong.Field, shortText(wrong.Value, 40))
	case err != nil: // the text is JSON: only a time can be wrong in other ways
		return o, errors.New("sent is not a time in RFC 3339, as in 2026-04-21T03:27:50Z")
	}
	return sound(o)
}

// sound returns an observation fit to be kept and shown, its texts scrubbed and cut, or an error if it is invalid.
func sound(o quota.Observation) (quota.Observation, error) {
	switch {
	case !observationID.MatchString(o.ID):
		return o, errors.New("id has 1 to 128 printable ASCII characters without spaces")
	case o.Sent.IsZero():
		return o, errors.New("sent is missing")
	case o.Status != 0 && (o.Status < 100 || o.Status > 999):
		return o, errors.New("status is 0, for no answer, or 100 to 999")
	case len(o.IntentID) > maxObservationText:
		return o, fmt.Errorf("intentId has more than %d bytes", maxObservationText)
	}
	if err := cmp.Or(soundTime("latencyNs", o.Latency), soundTime("retryAfterNs", o.RetryAfter)); err != nil {
		return o, err
	}
	o.Class = quota.Class(shortText(string(o.Class), maxObservationText))
	o.IntentID = string(api.ScrubID(o.IntentID))
	for _, text := range []*string{&o.Method, &o.Endpoint, &o.Key, &o.Spender, &o.State, &o.Reference} {
		*text = shortText(*text, maxObservationText)
	}
	var reports []quota.Report
	for i, report := range o.Reports {
		checked, err := soundReport(report)
		if err != nil {
			return o, fmt.Errorf("reports[%d]: %w", i, err)
		}
		reports = append(reports, checked)
	}
	o.Reports = reports
	return o, nil
}

func soundReport(r quota.Report) (quota.Report, error) {
	switch {
	case r.Limit < 0:
		return r, errors.New("limit is negative")
	case r.Remaining < 0:
		return r, errors.New("remaining is negative")
	}
	r.Policy = shortText(r.Policy, maxObservationText)
	return r, cmp.Or(soundTime("windowNs", r.Window), soundTime("resetNs", r.Reset))
}

func soundTime(member string, d time.Duration) error {
	switch {
	case d < 0:
		return errors.New(member + " is negative")
	case d > maxObservationTime:
		return errors.New(member + " is longer than 366 days")
	}
	return nil
}

// shortText scrubs remote text and cuts it to at most most bytes.
func shortText(s string, most int) string {
	scrubbed := string(api.Scrub(s))
	return strings.ToValidUTF8(scrubbed[:min(len(scrubbed), most)], "")
}
