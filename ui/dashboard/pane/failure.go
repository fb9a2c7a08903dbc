package pane

import (
	"strings"

	"tillwatch/api"
	"tillwatch/ui/dashboard/sign"
)

// failureWords says why an intent failed, in a few words.
func failureWords(f *api.FailureReason) string {
	if f == nil {
		return "reason not known"
	}
	code := strings.TrimPrefix(strings.TrimPrefix(string(f.Code), "checkout_intent_"), "product_")
	if code == "" {
		return string(f.Message)
	}
	return sign.Words(code)
}
