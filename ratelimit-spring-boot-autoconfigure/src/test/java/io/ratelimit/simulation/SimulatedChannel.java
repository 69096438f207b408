package io.ratelimit.simulation;

import io.ratelimit.internal.change.ChangeChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/** Messages between instances. Those whose network does not work get none, and send none. */
final class SimulatedChannel {

    static final Duration DELAY = Duration.ofMillis(1);

    private final SimulatedTime time;

    private final List<Member> members = new ArrayList<>();

    SimulatedChannel(SimulatedTime time) {
        this.time = time;
    }

    ChangeChannel join(BooleanSupplier isConnected) {
        Member member = new Member(isConnected);
        members.add(member);
        return member;
    }

    private record Subscription(String topic, ChangeChannel.Subscriber subscriber) {}

    private final class Member implements ChangeChannel {

        private final BooleanSupplier isConnected;

        private final List<Subscription> subscriptions = new ArrayList<>();

        Member(BooleanSupplier isConnected) {
            this.isConnected = isConnected;
        }

        @Override
        public void send(String topic, String message) {
            if (isConnected.getAsBoolean()) {
                members.stream()
                        .filter(other -> other != this)
                        .forEach(other -> time.after(DELAY, () -> other.receive(topic, message)));
            }
        }

        private void receive(String topic, String message) {
            if (isConnected.getAsBoolean()) {
                subscriptions.stream()
                        .filter(known -> known.topic.equals(topic))
                        .forEach(known -> known.subscriber.onMessage(message));
            }
        }

        @Override
        public void subscribe(String topic, Subscriber subscriber) {
            subscriptions.add(new Subscription(topic, subscriber));
        }
    }
}
