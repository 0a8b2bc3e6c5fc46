//! The machine from outside: its rooms on fake neighbours, by their public names.
//!
//! Tests carry the number of the case of client-go's own test suite that they answer to, in a comment: `// C2`. Unit
//! tests of a room stand in the room. A case that is decided otherwise here is adapted where it stands. These have no
//! counterpart:
//!
//! | Case | In client-go | Here |
//! |---|---|---|
//! | A19 | `UndeltaStore` | a [`kdelta::reflector::ReflectorStore`] of one's own hears of every change |
//! | A20 | typed indexers and handlers | one `Object`, and `Object::parse` |
//! | A21–A24 | `ExpirationCache` | nothing in an informer expires |
//! | A25–A29 | `MutationCache` | nothing is written, so nothing written is to be read back |
//! | A30 | `Heap` | no queue here orders by priority |
//! | D12, D13, F1 in a batch | `PopBatch`, transactions of a batch | one pop, one lock; F1 one at a time |
//! | E1–E3, F2 and F4 in their atomic variants | `ReplacedAll`, `SyncAll` as one delta each | a list is a delta for each object |
//! | F5 | a transformer that answers no object | a transformer answers an object |
//! | G5, G31 | the result channel of a watch, the channel of the resync timer | a stream that is dropped, and G16, I1 |
//! | G15 | retries of internal errors until a deadline | the table of verdicts in `reflector` |
//! | G24 | the expected type as text and `GroupVersionKind` | the type is the source's; a Table is refused |
//! | G32 | a second list that checks the first | the property tests of the informer and the tests on a real server |
//! | H2 | warnings of a ticker while no initial event comes | a deadline, and an event for the observer |
//! | H6 | a list made into a watch-list by the client | only a reflector asks for one |
//! | I24 | `WaitFor` with checkers | `synced().await`, and `SharedInformerFactory::wait_for_cache_sync` names who has not |
//! | I26 | `Lazy` evaluation of the store's version | the version is a value |
//! | J1 `paginated`, J3 | whether a pager took pages; pages fetched ahead | items come as the page arrives; nothing is fetched ahead |
//! | J2 with a panic or a cancel in the callback | | a store answers with an error; a future is dropped |
//! | J12 | the unbounded buffer between an informer and its watch | the bounded channel of a subscription |
//! | L1–L6, L8, L11–L13 | kube-rs' own reflector, store and stream adapters | other types; what they promise is F, G, H and I |

mod cases;
mod informer;
mod reflector;
