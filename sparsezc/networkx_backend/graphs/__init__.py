"""Graphs of the backend: conversion, edges as arrays, and the claims."""
