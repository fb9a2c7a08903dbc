// Package simulator stands in for the service: the whole contract over real
// HTTP, with a shop that lives by itself, for demonstrations, tests and
// integration work.
//
// # The service
//
// It follows the contract strictly: five states, nine event types, closed
// bodies, `Bearer` keys only, RateLimit fields on every answer. Where the
// contract shows nothing it does what public clients have seen. An intent that
// is created over HTTP always gets its offer and, once confirmed, completes,
// unless its product URL, its variant, its buyer, its constraints or the
// merchant's stock say otherwise; only the intents of the simulated shop fail at
// random.
//
// What the API takes, a merchant may refuse. An order for a product with variants
// names one, by ?variant= with the id that the lookup gives or by selections. The
// buyer's e-mail address and phone number must look like such, with ten digits of
// the United States; big-store.example takes them with hyphens only. With an effort
// of "low" the retrieval fails after three times as long as usual.
//
// An event of a product says what has become of it: after product.updated its
// price or its stock differs, after product.removed the lookup answers 404, until
// the next event.
//
// All that happens is drawn from the seed: the n-th intent of a seed has the
// same id, offer and fate in every run. The windows of the buckets, the 5
// seconds of a delivery and the pauses between its attempts are real time;
// everything else is divided by the speed.
//
// # Magic product URLs
//
// A product URL whose path ends in /magic/ and a name asks for a fate. The name is
// one of [Magics] or of [FailureCodes], as in
// https://shop.example/magic/payment_failed: the intent fails with this code, at
// the step where it naturally strikes, or with ?while=placing while its order is
// placed. checkout_intent_expired lets the confirm window close soon after the
// offer.
//
// # Webhooks
//
// A registered endpoint first gets the verification challenge, again and again
// until it answers, then what had happened before, one by one in order, then
// what happens, up to eight at a time. A delivery that is not answered with 200
// within 5 seconds is tried again after each of [RetryPauses], then given up.
//
// # Keys
//
// All keys of the account share its buckets. A key may be bound to scopes: without
// the one that an endpoint needs it gets 403. A key of the other environment gets
// 401. A POST with an Idempotency-Key takes effect once; what follows under the
// same key gets the same answer, or 422 when it asks for something else.
//
// # Control API
//
// The endpoints under /control/ are those of [Controls].
package simulator
