//! Tests of the order, the bounds and the removal of parts.

use kdelta::testing::{FakeSource, pod};

use super::*;

fn stream(coalesce: bool) -> MergedStream {
    MergedStream::new(&Flow { from: None, resync: None, coalesce })
}

/// Adds a part on a source in memory.
fn add(stream: &mut MergedStream, part: usize, source: &FakeSource, on_slow: OnSlow) -> Registration {
    let informer = SharedIndexInformer::builder(source.clone()).queue(QueueKind::Ordered).build();
    let options = HandlerOptions::default().on_slow(on_slow);
    let subscription = informer.subscribe_with_options(options).expect("not stopped");
    let registration = subscription.registration();
    stream.run(part, informer, subscription, None);
    registration
}

const BLOCK: OnSlow = OnSlow::Block { capacity: 2, bytes: usize::MAX };

/// Reads events, as `part: event`, until one of them is `last`.
async fn read_until(stream: &mut MergedStream, last: &str) -> Vec<String> {
    let mut read = Vec::new();
    while read.last().is_none_or(|event| event != last) {
        let mut batch = Vec::new();
        stream.next_batch(&mut batch, 1).await;
        read.extend(batch.into_iter().map(|event| match event.kind {
            PartEventKind::Notification(notification) => format!("{}: {notification}", event.part),
            PartEventKind::Left => format!("{}: left", event.part),
            PartEventKind::Ended(result) => format!("{}: ended, ok: {}", event.part, result.is_ok()),
            PartEventKind::Resumed(_) => format!("{}: resumed", event.part),
        }));
    }
    read
}

#[tokio::test]
async fn events_of_each_part_are_read_in_order_through_small_buffers() {
    let (mut stream, sources) = (stream(false), [(); 3].map(|()| FakeSource::new()));
    for (part, source) in sources.iter().enumerate() {
        add(&mut stream, part, source, BLOCK);
        for name in 0..50 {
            source.add(pod(&format!("shop/pod-{name:02}")));
        }
        source.add(pod("shop/z"));
    }
    let mut read = Vec::new();
    let is_last = |event: &&String| event.contains("+shop/z@");
    while read.iter().filter(is_last).count() < sources.len() {
        let mut batch = Vec::new();
        stream.next_batch(&mut batch, 7).await;
        assert!(batch.len() <= 7);
        read.extend(batch.into_iter().filter_map(|event| match event.kind {
            PartEventKind::Notification(notification) => Some(format!("{}: {notification}", event.part)),
            _ => None,
        }));
    }
    for part in 0..sources.len() {
        let prefix = format!("{part}: +");
        let added: Vec<_> = read.iter().filter(|event| event.starts_with(&prefix)).collect();
        assert!(added.is_sorted() && added.len() == 51, "{added:?}");
    }
    stream.stop().await;
}

/// Lets the tasks of the parts run until they wait.
async fn settle() {
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn slow_reader_blocks_the_informer() {
    let (mut stream, source) = (stream(false), FakeSource::new());
    source.add(pod("shop/a"));
    let informer = SharedIndexInformer::builder(source.clone()).queue(QueueKind::Ordered).build();
    let options = HandlerOptions::default().on_slow(BLOCK);
    let subscription = informer.subscribe_with_options(options).expect("not stopped");
    let indexer = informer.get_indexer();
    stream.run(0, informer, subscription, None);
    read_until(&mut stream, "0: SYNCED 2").await;
    for number in 0..50 {
        source.add(pod(&format!("shop/pod-{number:02}")));
    }
    settle().await;
    assert_eq!(indexer.list_keys().len(), 4, "the initial one, two in the channel, and one that waits");
    let changes = read_until(&mut stream, "0: +shop/pod-49@52 watch").await;
    assert!(changes.is_sorted() && changes.len() == 50, "{changes:?}");
    stream.stop().await;
}

#[tokio::test]
async fn batch_over_many_parts_is_bounded_by_bytes() {
    let mut stream = stream(false);
    for part in 0..20 {
        let source = FakeSource::new();
        source.add(pod("shop/a"));
        add(&mut stream, part, &source, OnSlow::Block { capacity: 100, bytes: 1 });
    }
    settle().await;
    let (mut events, mut weight) = (Vec::new(), 0);
    while events.iter().filter(|event: &&PartEvent| event.weight() > 0).count() < 20 {
        let start = events.len();
        let mut batch = Batch::new(&mut events, 100, weight + 1);
        poll_fn(|context| stream.poll_batch(context, &mut batch)).await;
        let read = events[start..].iter().map(PartEvent::weight);
        weight = weight.max(read.clone().max().unwrap_or(0));
        assert!(read.filter(|weight| *weight > 0).count() <= 2);
    }
    let mut numbers: Vec<_> =
        events.iter().filter(|event| event.weight() > 0).map(|event| event.part).collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..20));
    stream.stop().await;
}

#[tokio::test]
async fn unread_event_keeps_the_time_of_its_delivery() {
    let (mut stream, source) = (stream(false), FakeSource::new());
    add(&mut stream, 0, &source, BLOCK);
    read_until(&mut stream, "0: SYNCED 1").await;
    source.add(pod("shop/a"));
    settle().await;
    let delivered = jiff::Timestamp::now();
    while jiff::Timestamp::now() <= delivered {}
    let mut batch = Vec::new();
    stream.next_batch(&mut batch, 1).await;
    assert!(batch.iter().all(|event| event.received <= delivered));
    stream.stop().await;
}

#[tokio::test(start_paused = true)]
async fn removed_part_deletes_its_objects_and_leaves() {
    let (mut stream, source) = (stream(false), FakeSource::new());
    source.add(pod("shop/a"));
    add(&mut stream, 7, &source, BLOCK);
    read_until(&mut stream, "7: SYNCED 2").await;
    stream.remove(7);
    stream.remove(7);
    assert_eq!(read_until(&mut stream, "7: left").await, ["7: -shop/a@2? relist", "7: left"]);
    assert!(stream.parts.is_empty());
    stream.remove(7);
    stream.stop().await;
}

#[tokio::test]
async fn unread_changes_are_coalesced() {
    let (mut stream, source) = (stream(true), FakeSource::new());
    source.add(pod("shop/a"));
    let registration = add(&mut stream, 0, &source, OnSlow::Coalesce);
    read_until(&mut stream, "0: SYNCED 2").await;
    for _ in 0..20 {
        source.modify(pod("shop/a"));
    }
    while registration.coalesced() < 19 {
        tokio::task::yield_now().await;
    }
    let changes = read_until(&mut stream, "0: shop/a@2>22 watch").await;
    assert_eq!(changes.len(), 1, "{changes:?}");
    stream.stop().await;
}

#[tokio::test]
#[should_panic(expected = "a bug in a part")]
async fn panic_of_part_is_propagated() {
    let mut stream = stream(false);
    stream.tasks.spawn(async { TaskEnd::Other });
    stream.tasks.spawn(async { panic!("a bug in a part") });
    stream.next_batch(&mut Vec::new(), 1).await;
}

#[test]
fn try_send_fails_when_full_but_not_when_closed() {
    let (sender, receiver) = weighted_channel(1, 1);
    let sender = EventSender::new(sender);
    let send = || sender.try_send(PartEvent::now(0, PartEventKind::Left));
    assert!(send().is_ok());
    assert!(send().is_err(), "full");
    drop(receiver);
    assert!(send().is_ok());
}
