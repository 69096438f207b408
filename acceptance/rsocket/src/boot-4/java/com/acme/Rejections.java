package com.acme;

/** Nothing: the starter answers. */
public abstract class Rejections {}
