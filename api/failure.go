package api

// FailureCode is the code of a failure reason: an open set that has grown over
// time.
type FailureCode string

// FailureGroup says who can do something about a failure.
type FailureGroup string

// The groups of failure codes that public clients have seen.
const (
	FailureExpiry   FailureGroup = "expired"
	FailureBuyer    FailureGroup = "buyer can fix"
	FailurePayment  FailureGroup = "payment"
	FailureMerchant FailureGroup = "merchant cannot be served"
	FailureRetry    FailureGroup = "try again later"
	FailureAccount  FailureGroup = "account"
	FailureUnknown  FailureGroup = "unclassified"
)

// Group classes the code; a code that is not known is unclassified.
func (c FailureCode) Group() FailureGroup { panic("unwritten") }

// Advice is one sentence on what to do about the failure.
func (c FailureCode) Advice() string { panic("unwritten") }
