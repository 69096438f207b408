package io.ratelimit.internal.change;

/**
 * Tells the other instances that something has changed, as soon as possible and without a guarantee: a message can get lost,
 * such as while Redis is unavailable or an instance restarts. It never blocks, never throws and never counts towards the circuit
 * breaker. The order of messages is kept.
 */
public interface ChangeChannel {

    /** Sends nothing: there is no other instance that shares anything. */
    ChangeChannel NONE = new ChangeChannel() {

        @Override
        public void send(String topic, String message) {}

        @Override
        public void subscribe(String topic, Subscriber subscriber) {}
    };

    /**
     * Sends a message to the subscribers of all other instances. Bounded: if too many messages wait, the message is dropped.
     *
     * @param topic letters and dashes
     * @param message any text, and no key that is not hashed
     */
    void send(String topic, String message);

    /** Receives the messages of other instances, from now on. Called on a thread of the channel, which must not be blocked. */
    void subscribe(String topic, Subscriber subscriber);

    /** Receives messages. What it throws is logged once. */
    @FunctionalInterface
    interface Subscriber {

        void onMessage(String message);

        /** Called when the channel is connected, at first or again: earlier messages may have been lost. */
        default void onConnect() {}
    }
}
