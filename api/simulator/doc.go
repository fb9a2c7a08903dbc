// Package simulator is the stand-in for the service: the whole contract over real HTTP,
// with a shop that acts by itself, for demonstrations, tests and integration work.
//
// # The service
//
// It follows the contract strictly: five states, nine event types, closed bodies,
// `Bearer` keys only, RateLimit fields on every answer. Where the contract shows
// nothing, it does what public clients have observed. An intent created over HTTP always
// gets its offer and completes once it is confirmed, unless its product URL, its
// variant, its buyer, its constraints or the merchant's stock prevent that; only the
// intents of the simulated shop fail at random.
//
// A merchant may refuse what the API accepts. An order for a product with variants must
// name one, by selections or by ?variant= with the id from the lookup. The buyer's
// e-mail address must be well formed, and the phone number must have ten digits of the
// United States; big-store.example accepts only hyphens between them. With an
// effort of "low" the retrieval fails after three times its usual duration.
//
// Product events match the lookup: after product.updated the price or the stock differs,
// after product.removed the lookup answers 404 until the next event.
//
// The seed decides everything random: the n-th intent of a seed has the same id, offer
// and fate in every run. The seconds of the buckets, the 5 seconds of a delivery and the
// pauses between its attempts are real time, the day of the intents is the service's; all
// other durations are divided by the speed.
//
// It keeps the newest 10,000 intents with their shipments, and 100,000 events, or as many
// as it begins with. Older ones go once nothing happens to them any more.
//
// # Magic product URLs
//
// A product URL whose path ends in /magic/ and a name decides the fate of its intent.
// The name is one of [Magics] or [FailureCodes]. With
// https://shop.example/magic/payment_failed the intent fails with this code, at the
// step where that failure usually happens, or with ?while=placing while its order is
// placed. checkout_intent_expired closes the confirm window soon after the offer.
//
// # Webhooks
//
// A registered endpoint first gets the verification challenge, repeatedly until it
// answers. Then it gets the earlier events, one by one in order, and from then on new
// events, up to eight at a time. A delivery that is not answered with 200 within 5
// seconds is tried again after each of [RetryPauses], then given up.
//
// # Keys
//
// All keys of the account share its buckets. A key may be limited to scopes: without the
// scope that an endpoint needs, it gets 403. A key of the other environment gets 401. A
// POST with an Idempotency-Key takes effect once: later requests with the same key get
// the same answer, or 422 if they ask for something else. RememberFailures does the same
// with failures, an injected 500 too, as some services do.
//
// # Control API
//
// The endpoints under /control/ are those of [Controls].
package simulator
