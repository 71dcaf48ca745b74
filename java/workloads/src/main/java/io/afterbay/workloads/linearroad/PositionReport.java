package io.afterbay.workloads.linearroad;

/**
 * Where a vehicle is, as it says every 30 s on average.
 *
 * @param speed in miles per hour
 * @param direction 0 or 1
 * @param position in feet from the start of the highway
 */
public record PositionReport(
        int vehicle, int speed, int highway, int lane, int direction, int position) {
    static final int FEET_PER_SEGMENT = 5280;

    /** A mile of the highway, from 0. */
    public int segment() {
        return position / FEET_PER_SEGMENT;
    }
}
