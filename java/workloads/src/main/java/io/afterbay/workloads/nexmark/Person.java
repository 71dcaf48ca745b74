package io.afterbay.workloads.nexmark;

/**
 * A new person: 16 bytes serialised.
 *
 * @param id from 0, in the order of the stream, so that it gives the event number
 * @param profile stands for what is known about the person
 */
public record Person(long id, long profile) implements Event {
    @Override
    public long number() {
        return Generator.numberOfPerson(id);
    }
}
